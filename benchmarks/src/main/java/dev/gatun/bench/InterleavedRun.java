package dev.gatun.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;

/**
 * Measures several ways of doing one thing in turns, so that a slow phase of the machine meets all of them. Each way gets
 * half of its time to warm up.
 */
final class InterleavedRun implements AutoCloseable {
  // as the C program: bounds the memory for samples
  private static final int ITERATIONS_MAX = 200_000;
  private static final int ROUNDS = 10;

  private final Arena arena = Arena.ofConfined(); // run
  private final MemorySegment nanos = arena.allocate(ValueLayout.JAVA_LONG, ITERATIONS_MAX);
  private final long cellNanos;
  private final int iterationsMin;

  /**
   * @param cellMillis time for each way
   * @param iterationsMin measured iterations of each, however long they take
   */
  InterleavedRun(long cellMillis, int iterationsMin) {
    this.cellNanos = cellMillis * 1_000_000;
    this.iterationsMin = iterationsMin;
  }

  /**
   * Measures.
   *
   * @param ways each runs as often as told and writes nanoseconds of each iteration
   * @return samples in the order of the ways
   */
  List<Samples> measure(List<ObjIntConsumer<MemorySegment>> ways) {
    List<Samples> all = new ArrayList<>();
    int[] iterations = new int[ways.size()];
    for (int way = 0; way < iterations.length; way++) {
      iterations[way] = warm(ways.get(way));
      all.add(new Samples());
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (int way = 0; way < iterations.length; way++) {
        int share = share(iterations[way], round);
        if (share == 0) continue;
        ways.get(way).accept(nanos, share);
        all.get(way).add(nanos, share);
      }
    }
    return all;
  }

  /** Runs for half of the time. {@return how many iterations the other half has room for} */
  private int warm(ObjIntConsumer<MemorySegment> way) {
    long spent = 0;
    int chunk = 1;
    long medianNanos;
    do {
      way.accept(nanos, chunk);
      Samples samples = new Samples();
      samples.add(nanos, chunk);
      medianNanos = Math.max(1, samples.medianNanos());
      spent += medianNanos * chunk;
      chunk = bounded(Math.min(2L * chunk, cellNanos / 10 / medianNanos), 1);
    } while (spent < cellNanos / 2);
    return bounded(cellNanos / 2 / medianNanos, iterationsMin);
  }

  private static int bounded(long iterations, int min) {
    return Math.clamp(iterations, min, ITERATIONS_MAX);
  }

  private static int share(int iterations, int round) {
    return iterations * (round + 1) / ROUNDS - iterations * round / ROUNDS;
  }

  @Override
  public void close() {
    arena.close();
  }
}
