package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many threads on one pool. Bounded by operations, not by time; the seed is printed, and {@code -Dgatun.seed=N} runs it
 * again, though not with the same interleaving.
 */
@Timeout(120)
class BlockPoolStressTest {
  private static final int THREADS = 8;
  private static final int OPERATIONS = 50_000;

  private final long seed = Long.getLong("gatun.seed", System.nanoTime());
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  private interface Work {
    void run(int thread, SplittableRandom random) throws Exception;
  }

  @Test
  @DisplayName("a block has one owner at a time, and a pool with a block for each thread is never found exhausted")
  void oneOwner() throws InterruptedException {
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(64, THREADS), Refits.gate())) {
      inThreads(true, (thread, random) -> {
        for (int i = 0; i < OPERATIONS; i++) {
          long block = pool.lease();
          MemorySegment page = pool.page(block);
          page.set(ValueLayout.JAVA_INT, 0, thread);
          page.set(ValueLayout.JAVA_INT, 60, i);
          if (random.nextInt(8) == 0) Thread.onSpinWait();
          assertEquals(thread, page.get(ValueLayout.JAVA_INT, 0));
          assertEquals(i, page.get(ValueLayout.JAVA_INT, 60));
          pool.release(block);
        }
      });
      assertEquals(THREADS, pool.available());
    }
  }

  @Test
  @DisplayName("blocks that travel from thread to thread, virtual ones among them, are all back at the end")
  void travelling() throws InterruptedException {
    int blocks = 300;
    BlockingQueue<Long> queue = new ArrayBlockingQueue<>(blocks);
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(64, blocks), Refits.gate())) {
      inThreads(false, (thread, random) -> {
        for (int i = 0; i < OPERATIONS; i++) {
          long block = random.nextInt(2) == 0 ? pool.tryLease() : 0;
          if (block != 0) {
            queue.add(block);
          } else {
            Long taken = queue.poll();
            if (taken != null) pool.release(taken);
          }
        }
      });
      assertEquals(blocks - queue.size(), pool.available());
      for (Long block : queue)
        pool.release(block);
      assertEquals(blocks, pool.available());
      for (int i = 0; i < blocks; i++)
        assertTrue(pool.tryLease() != 0, "every free block can be found");
      assertEquals(0, pool.tryLease());
    }
  }

  @Test
  @DisplayName("holders, transfers and refits that race free every block exactly once")
  void transfersAndRefits() throws InterruptedException {
    EpochGate gate = Refits.gate();
    int blocks = 64;
    long[] shared = new long[4];
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(64, blocks), gate, PoolOptions.named("raced").poisoned())) {
      inThreads(true, (thread, random) -> {
        for (int i = 0; i < OPERATIONS / 5; i++) {
          if (thread == 0 && i % 500 == 0) Refits.refit(gate);
          long block = pool.lease();
          shared[random.nextInt(shared.length)] = block;
          long other = shared[random.nextInt(shared.length)]; // somebody's, perhaps long ended
          boolean reading = attempt(() -> pool.beginRead(other));
          boolean writing = attempt(() -> pool.beginWrite(block));
          attempt(() -> pool.page(other));
          boolean quarantined = writing && random.nextInt(4) == 0;
          if (quarantined) pool.quarantine(block);
          pool.release(block);
          if (quarantined) {
            pool.endQuarantine(block);
          } else if (writing) {
            pool.endWrite(block, random.nextBoolean());
          }
          if (reading) pool.endRead(other);
        }
      });
      assertEquals(blocks, pool.available());
      assertEquals(0, pool.quarantined());
      for (int i = 0; i < blocks; i++)
        assertTrue(pool.tryLease() != 0, "every free block can be found");
      assertEquals(0, pool.tryLease(), "and none twice");
    }
  }

  private static boolean attempt(Runnable call) {
    try {
      call.run();
      return true;
    } catch (EpochChangedException | IllegalStateException | IllegalArgumentException e) {
      return false; // another thread's block, or none yet: the refusal is the point
    }
  }

  private void inThreads(boolean platformOnly, Work work) throws InterruptedException {
    System.out.println("seed " + seed);
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int number = i;
      Runnable body = () -> {
        try {
          start.await();
          work.run(number, new SplittableRandom(seed + number));
        } catch (Throwable e) {
          failure.compareAndSet(null, e);
        }
      };
      threads.add(platformOnly || i % 2 == 0 ? Thread.ofPlatform().start(body) : Thread.ofVirtual().start(body));
    }
    start.countDown();
    for (Thread thread : threads)
      thread.join();
    assertNull(failure.get(), () -> "seed " + seed + ": " + failure.get());
  }
}
