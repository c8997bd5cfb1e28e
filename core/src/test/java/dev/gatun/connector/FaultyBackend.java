package dev.gatun.connector;

import dev.gatun.backend.StoreBackend;
import dev.gatun.testing.ForwardingBackend;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ToLongBiFunction;

/** A real library whose answers for single keys a test may replace, and whose calls are counted. */
final class FaultyBackend extends ForwardingBackend {
  /** Operation and key to the answer for the key; what is positive leaves the library's answer. */
  static final long AS_IT_IS = Long.MAX_VALUE;

  volatile ToLongBiFunction<String, String> answers = (operation, key) -> AS_IT_IS;
  /** Runs before each batch call, with its name. */
  volatile Consumer<String> before = operation -> {};
  final AtomicInteger removals = new AtomicInteger();
  final AtomicInteger batchPuts = new AtomicInteger();

  FaultyBackend(StoreBackend library) {
    super(library);
  }

  private static String key(MemorySegment keys, int index) {
    return MemorySegment.ofAddress(keys.getAtIndex(ValueLayout.JAVA_LONG, index)).reinterpret(2048).getString(0);
  }

  @Override
  public int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes) {
    before.accept("put");
    batchPuts.incrementAndGet();
    int code = super.batchPut(keys, pages, sizes, count, replicate, codes);
    for (int i = 0; i < count; i++) {
      long answer = answers.applyAsLong("put", key(keys, i));
      if (answer != AS_IT_IS) codes.setAtIndex(ValueLayout.JAVA_INT, i, Math.toIntExact(answer));
    }
    return code;
  }

  @Override
  public int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results) {
    before.accept("get");
    int code = super.batchGet(keys, pages, sizes, count, results);
    for (int i = 0; i < count; i++) {
      long answer = answers.applyAsLong("get", key(keys, i));
      if (answer != AS_IT_IS) results.setAtIndex(ValueLayout.JAVA_LONG, i, answer);
    }
    return code;
  }

  @Override
  public int batchExists(MemorySegment keys, int count, MemorySegment codes) {
    before.accept("exists");
    int code = super.batchExists(keys, count, codes);
    for (int i = 0; i < count; i++) {
      long answer = answers.applyAsLong("exists", key(keys, i));
      if (answer != AS_IT_IS) codes.setAtIndex(ValueLayout.JAVA_INT, i, Math.toIntExact(answer));
    }
    return code;
  }

  @Override
  public long removeAll(boolean force) {
    before.accept("removeAll");
    if (force) removals.incrementAndGet();
    return super.removeAll(force);
  }
}
