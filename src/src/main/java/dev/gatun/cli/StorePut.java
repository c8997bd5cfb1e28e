package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.TerminalText;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.PutResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gatun store put KEY FILE}. */
@Command(name = "put", description = {"Stores a file's bytes under a key.",
    "A key that is there keeps its bytes; the command then says so and exits with 1: remove it first."})
final class StorePut extends GatunCommand {
  // 1 GiB: the copying put stages the whole value in the library's local buffer
  private static final long BYTES_MAX = 1L << 30;
  private static final long BUFFER_STEP = 4096;
  // the library's allocator needs some room beside the value
  private static final long BUFFER_SPARE = 16L << 20;

  @Mixin
  StoreConnection connection = new StoreConnection();

  @Parameters(index = "0", paramLabel = "KEY")
  String key = "";

  @Parameters(index = "1", paramLabel = "FILE", description = "1 byte to 1 GiB")
  Path file = Path.of("");

  @Override
  int run() {
    KvKey wanted = KvKey.of(keyText("KEY", key));
    connection.options(0); // refuses before the file is read
    try (Arena arena = Arena.ofShared(); FileChannel channel = FileChannel.open(file)) {
      long bytes = channel.size();
      if (bytes < 1 || bytes > BYTES_MAX) throw usage(file + " must hold 1 byte to 1 GiB: " + bytes);
      MemorySegment value = channel.map(MapMode.READ_ONLY, 0, bytes, arena);
      long buffer = Math.ceilDiv(bytes + BUFFER_SPARE, BUFFER_STEP) * BUFFER_STEP;
      return withNativeLog(log -> put(wanted, value, buffer));
    } catch (IOException unreadable) {
      throw usage("cannot read " + file + ": " + unreadable);
    }
  }

  private int put(KvKey wanted, MemorySegment value, long bufferBytes) {
    try (KvStore store = connection.open(bufferBytes)) {
      boolean present = switch (store.exists(wanted)) {
        case PRESENT -> true;
        case ABSENT -> false;
        case UNKNOWN ->
          throw new CommandException(ExitCode.FAILED, "the store does not say whether " + key + " is there");
      };
      if (present)
        throw new CommandException(ExitCode.FAILED, key + " is there already and keeps its bytes; remove it "
            + "first: gatun store rm");
      switch (store.put(wanted, value)) {
        case PutResult.Stored stored -> told(value.byteSize());
        case PutResult.AlreadyPresent there -> throw new CommandException(ExitCode.FAILED, key + " appeared meanwhile");
        case PutResult.PutFailed failed -> throw new CommandException(ExitCode.FAILED, "put of " + key + " failed: "
            + failed.code() + " (" + failed.rawCode() + ')'
            + (failed.detail().isEmpty() ? "" : ": " + failed.detail()));
      }
      return ExitCode.OK;
    }
  }

  private void told(long bytes) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("key", key);
    map.put("bytes", bytes);
    answer(map, "stored " + bytes + " bytes under " + TerminalText.line(key) + System.lineSeparator());
  }
}
