package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.PoolOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Two engines with a registered pool each, one the peer of the other. */
final class TransferBench implements AutoCloseable {
  static final int PAGE_BYTES = 18_432;
  static final int PAGES = 64;
  static final Duration WAIT_MAX = Duration.ofSeconds(20);

  final TransferSubject subject;
  final Side here;
  final Side there;
  /** The other side as seen from here. */
  final Segment peer;

  /** One engine, its gate, its pool. */
  static final class Side implements AutoCloseable {
    final EpochGate gate = new EpochGate(new WeightEpoch("transfer", 1));
    final TransferEngine engine;
    final BlockPool pool;
    private final List<Long> leases = new ArrayList<>();

    Side(TransferSubject subject, String name) {
      this(name, gate -> TransferEngine.open(subject.options(), gate));
    }

    Side(String name, Function<EpochGate, TransferEngine> open) {
      engine = open.apply(gate);
      pool = BlockPool.allocate(new PoolLayout(PAGE_BYTES, PAGES, 64), gate, PoolOptions.named(name));
      engine.register(pool.slab());
    }

    /** {@return a lease whose page is filled from a seed} */
    long filled(int seed) {
      long block = lease();
      fill(pool.rewrite(block), seed);
      return block;
    }

    /** {@return a lease that is released at the end} */
    long lease() {
      long block = pool.lease();
      leases.add(block);
      return block;
    }

    /** Releases a lease before the end. */
    void release(long block) {
      leases.remove(block);
      pool.release(block);
    }

    /** {@return where a block's page begins} */
    long address(long block) {
      return pool.blockAddress(block) + pool.headerBytes();
    }

    @Override
    public void close() {
      assertEquals(List.of(), engine.close(deadline()), "pending of " + engine.name());
      leases.forEach(pool::release);
      pool.close(deadline());
      assertEquals(List.of(), pool.leaked());
    }
  }

  TransferBench(TransferSubject subject) {
    this.subject = subject;
    there = new Side(subject, "there");
    here = new Side(subject, "here");
    peer = here.engine.openSegment(there.engine.descriptor());
  }

  static Deadline deadline() {
    return Deadline.after(WAIT_MAX);
  }

  static void fill(MemorySegment page, int seed) {
    for (long i = 0; i < page.byteSize(); i += Long.BYTES)
      page.set(ValueLayout.JAVA_LONG, i, seed * 0x9E3779B97F4A7C15L + i);
  }

  static boolean holds(MemorySegment page, int seed) {
    for (long i = 0; i < page.byteSize(); i += Long.BYTES) {
      if (page.get(ValueLayout.JAVA_LONG, i) != seed * 0x9E3779B97F4A7C15L + i) return false;
    }
    return true;
  }

  /** Waits until something is so. */
  static void eventually(String what, BooleanSupplier condition) {
    Deadline deadline = deadline();
    while (!condition.getAsBoolean()) {
      assertFalse(deadline.reached(), what);
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** What a refit does to a gate and its parts, waiting two seconds for them. {@return what was pending} */
  static List<String> refit(EpochGate gate) {
    gate.close();
    gate.parts().forEach(Quiescable::failQueued);
    gate.raise(new WeightEpoch(gate.epoch().run(), gate.epoch().version() + 1));
    assertEquals(0, gate.awaitDrained(deadline()));
    List<String> pending = gate.drainParts(Deadline.after(Duration.ofSeconds(2)));
    gate.parts().forEach(Quiescable::clearLocal);
    gate.open(EpochGate.State.OPEN);
    return pending;
  }

  /** Submits, waits, and expects every request to have completed. */
  static void run(TransferBatch batch) {
    assertTrue(batch.submit().await(deadline()), "it ends");
    for (int i = 0; i < batch.size(); i++)
      assertEquals(TransferOutcome.COMPLETED, batch.outcome(i), "request " + i);
    assertTrue(batch.allCompleted());
  }

  @Override
  public void close() {
    // side by side: a real engine takes a second to destroy
    CompletableFuture<Void> other = CompletableFuture.runAsync(there::close);
    here.close();
    other.join();
  }
}
