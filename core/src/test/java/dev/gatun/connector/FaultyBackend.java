package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreCensus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ToLongBiFunction;

/** A real library whose answers for single keys a test may replace, and whose calls are counted. */
final class FaultyBackend implements StoreBackend {
  /** Operation and key to the answer for the key; what is positive leaves the library's answer. */
  static final long AS_IT_IS = Long.MAX_VALUE;

  private final StoreBackend library;
  volatile ToLongBiFunction<String, String> answers = (operation, key) -> AS_IT_IS;
  /** Runs before each batch call, with its name. */
  volatile Consumer<String> before = operation -> {};
  final AtomicInteger removals = new AtomicInteger();
  final AtomicInteger batchPuts = new AtomicInteger();

  FaultyBackend(StoreBackend library) {
    this.library = library;
  }

  private static String key(MemorySegment keys, int index) {
    return MemorySegment.ofAddress(keys.getAtIndex(ValueLayout.JAVA_LONG, index)).reinterpret(2048).getString(0);
  }

  @Override
  public String name() {
    return library.name();
  }

  @Override
  public String hostname() {
    return library.hostname();
  }

  @Override
  public int put(MemorySegment key, MemorySegment value, long bytes, MemorySegment replicate) {
    return library.put(key, value, bytes, replicate);
  }

  @Override
  public int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes) {
    before.accept("put");
    batchPuts.incrementAndGet();
    int code = library.batchPut(keys, pages, sizes, count, replicate, codes);
    for (int i = 0; i < count; i++) {
      long answer = answers.applyAsLong("put", key(keys, i));
      if (answer != AS_IT_IS) codes.setAtIndex(ValueLayout.JAVA_INT, i, Math.toIntExact(answer));
    }
    return code;
  }

  @Override
  public long get(MemorySegment key, MemorySegment page, long bytes) {
    return library.get(key, page, bytes);
  }

  @Override
  public int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results) {
    before.accept("get");
    int code = library.batchGet(keys, pages, sizes, count, results);
    for (int i = 0; i < count; i++) {
      long answer = answers.applyAsLong("get", key(keys, i));
      if (answer != AS_IT_IS) results.setAtIndex(ValueLayout.JAVA_LONG, i, answer);
    }
    return code;
  }

  @Override
  public int exists(MemorySegment key) {
    return library.exists(key);
  }

  @Override
  public int batchExists(MemorySegment keys, int count, MemorySegment codes) {
    before.accept("exists");
    int code = library.batchExists(keys, count, codes);
    for (int i = 0; i < count; i++) {
      long answer = answers.applyAsLong("exists", key(keys, i));
      if (answer != AS_IT_IS) codes.setAtIndex(ValueLayout.JAVA_INT, i, Math.toIntExact(answer));
    }
    return code;
  }

  @Override
  public long size(MemorySegment key) {
    return library.size(key);
  }

  @Override
  public int remove(MemorySegment key, boolean force) {
    return library.remove(key, force);
  }

  @Override
  public long removeMatching(MemorySegment pattern, boolean force) {
    return library.removeMatching(pattern, force);
  }

  @Override
  public long removeAll(boolean force) {
    before.accept("removeAll");
    if (force) removals.incrementAndGet();
    return library.removeAll(force);
  }

  @Override
  public int register(MemorySegment memory) {
    return library.register(memory);
  }

  @Override
  public int unregister(MemorySegment memory) {
    return library.unregister(memory);
  }

  @Override
  public int health() {
    return library.health();
  }

  @Override
  public MemorySegment encodeReplicate(ReplicateOptions options, Arena arena) {
    return library.encodeReplicate(options, arena);
  }

  @Override
  public Optional<StoreCensus> census() {
    return library.census();
  }

  @Override
  public List<String> doubts() {
    return library.doubts();
  }

  @Override
  public List<String> close(Deadline deadline) {
    return library.close(deadline);
  }

  @Override
  public void close() {
    library.close();
  }
}
