package dev.gatun.transfer.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.internal.ffm.SharedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Bytes one way, from one process to another, through memory that both have mapped: no call of the system as long as the reader
 * is awake. One thread writes and one reads at a time; neither waits. What the other process does to it is not trusted. May be
 * closed by any thread: what uses it then finds that it is.
 */
final class LinkRing implements AutoCloseable {
  // a grant of 1,000 blocks has 4 KiB; what does not fit goes in pieces; unmeasured default
  private static final int CAPACITY = 1 << 16;
  // apart from each other, since two processors write them: of two cache lines, which are fetched together
  private static final long TOKEN = 0;
  static final long WRITTEN = 128;
  static final long READ = 256;
  private static final long ASLEEP = 384;
  private static final long DATA = 512;
  private static final VarHandle LONG = JAVA_LONG.varHandle();
  private static final VarHandle INT = JAVA_INT.varHandle();

  private final @Nullable SharedFile own;
  private final Arena arena;
  private final MemorySegment memory;
  private final MemorySegment data;
  private long position; // this side's, which the other's is held against
  private boolean closed;

  private LinkRing(@Nullable SharedFile own, Arena arena, MemorySegment memory) {
    this.own = own;
    this.arena = arena;
    this.memory = memory;
    data = memory.asSlice(DATA, CAPACITY);
  }

  /** Creates one to write into. {@return it; null if this process cannot share memory} */
  @SuppressWarnings("MustBeClosedChecker") // the link's: closed with this
  static @Nullable LinkRing create() {
    Arena arena = Arena.ofShared();
    try {
      SharedFile file = SharedFile.create("gatun link", DATA + CAPACITY, arena);
      UUID token = UUID.randomUUID();
      file.memory().set(JAVA_LONG, TOKEN, token.getMostSignificantBits());
      file.memory().set(JAVA_LONG, TOKEN + Long.BYTES, token.getLeastSignificantBits());
      return new LinkRing(file, arena, file.memory());
    } catch (IOException e) {
      arena.close();
      return null;
    }
  }

  /**
   * Opens one to read from. {@return it; null if it is out of reach: the peer's processes have other numbers there, or the
   * system forbids it}
   */
  @SuppressWarnings("MustBeClosedChecker") // the link's: closed with this
  static @Nullable LinkRing open(String path, UUID token) {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = SharedFile.map(path, arena);
      if (memory.byteSize() == DATA + CAPACITY) {
        LinkRing ring = new LinkRing(null, arena, memory);
        if (ring.token().equals(token)) return ring;
      }
    } catch (IOException e) {
      // as below
    }
    arena.close();
    return null;
  }

  /** {@return what a reader opens it by; of one that was created} */
  String path() {
    if (own == null) throw new IllegalStateException("the ring is a peer's");
    return own.path();
  }

  synchronized UUID token() {
    return new UUID(memory.get(JAVA_LONG, TOKEN), memory.get(JAVA_LONG, TOKEN + Long.BYTES));
  }

  /**
   * Writes what there is room for, taking it from the buffer.
   *
   * @throws IOException if the reader says that it has read what was never written, or this is closed
   */
  synchronized void write(ByteBuffer from) throws IOException {
    if (closed) throw new ClosedChannelException();
    int count = Math.min(CAPACITY - filled(position, (long) LONG.getAcquire(memory, READ)), from.remaining());
    int at = (int) (position % CAPACITY);
    int first = Math.min(count, CAPACITY - at);
    put(from, at, first);
    put(from, 0, count - first);
    position += count;
    LONG.setVolatile(memory, WRITTEN, position); // before it is asked whether the reader sleeps
  }

  private void put(ByteBuffer from, int at, int count) {
    MemorySegment.copy(MemorySegment.ofBuffer(from), 0, data, at, count);
    from.position(from.position() + count);
  }

  /**
   * Reads what there is and the buffer has room for.
   *
   * @return bytes
   * @throws IOException if the writer says that it has written more than there is room for, or this is closed
   */
  synchronized int read(ByteBuffer into) throws IOException {
    if (closed) throw new ClosedChannelException();
    int count = Math.min(filled((long) LONG.getAcquire(memory, WRITTEN), position), into.remaining());
    if (count == 0) return 0;
    int at = (int) (position % CAPACITY);
    int first = Math.min(count, CAPACITY - at);
    take(at, first, into);
    take(0, count - first, into);
    position += count;
    LONG.setRelease(memory, READ, position);
    return count;
  }

  private void take(int at, int count, ByteBuffer into) {
    MemorySegment.copy(data, at, MemorySegment.ofBuffer(into), 0, count);
    into.position(into.position() + count);
  }

  private static int filled(long written, long read) throws IOException {
    long filled = written - read;
    if (filled < 0 || filled > CAPACITY)
      throw new IOException("the ring is broken: " + written + " written, " + read + " read");
    return (int) filled;
  }

  /** {@return whether there is nothing to read, not even that this is closed} */
  synchronized boolean isEmpty() {
    return !closed && (long) LONG.getVolatile(memory, WRITTEN) == position;
  }

  /** The reader is about to sleep, unless it still finds something; or is awake again. */
  synchronized void setAsleep(boolean asleep) {
    if (!closed) INT.setVolatile(memory, ASLEEP, asleep ? 1 : 0);
  }

  /** {@return whether the reader has to be woken to find what was written} */
  synchronized boolean isReaderAsleep() {
    return !closed && (int) INT.getVolatile(memory, ASLEEP) != 0;
  }

  /** Nobody can open it any more; the other side, if it has, keeps it. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) return;
    closed = true;
    if (own != null) own.close();
    arena.close();
  }
}
