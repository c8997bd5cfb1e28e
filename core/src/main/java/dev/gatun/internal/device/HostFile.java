package dev.gatun.internal.device;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gatun.internal.ffm.SharedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Memory of a host device, this process's or another's: how a host device is shared. */
final class HostFile implements AutoCloseable {
  private static final int HANDLE_BYTES = 64; // as a GPU driver's

  private final @Nullable SharedFile own;
  private final Arena arena;
  private final MemorySegment memory;

  private HostFile(@Nullable SharedFile own, Arena arena, MemorySegment memory) {
    this.own = own;
    this.arena = arena;
    this.memory = memory;
  }

  @SuppressWarnings("MustBeClosedChecker") // device memory: closed with this
  static HostFile create(long bytes) {
    Arena arena = Arena.ofShared();
    try {
      SharedFile file = SharedFile.create("gatun host device", bytes, arena);
      return new HostFile(file, arena, file.memory());
    } catch (IOException e) {
      arena.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** Maps what another process created; not this process's own, which a GPU driver refuses too. */
  @SuppressWarnings("MustBeClosedChecker") // device memory: closed with this
  static HostFile open(String handle) {
    String path = new String(HexFormat.of().parseHex(handle), US_ASCII).strip();
    if (path.startsWith("/proc/" + ProcessHandle.current().pid() + "/")) throw refused();
    Arena arena = Arena.ofShared();
    try {
      return new HostFile(null, arena, SharedFile.map(path, arena));
    } catch (IOException e) {
      arena.close();
      throw refused();
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  private static RuntimeException refused() {
    return HostError.INVALID_VALUE.in("cuIpcOpenMemHandle");
  }

  MemorySegment memory() {
    return memory;
  }

  /** What another process opens it by; of memory that this one created. */
  String handle() {
    if (own == null) throw HostError.INVALID_VALUE.in("cuIpcGetMemHandle");
    byte[] path = own.path().getBytes(US_ASCII);
    byte[] handle = new byte[HANDLE_BYTES];
    Arrays.fill(handle, (byte) ' ');
    System.arraycopy(path, 0, handle, 0, path.length);
    return HexFormat.of().formatHex(handle);
  }

  @Override
  public void close() {
    arena.close();
    if (own != null) own.close();
  }
}
