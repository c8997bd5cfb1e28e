package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Copies by several threads. */
class CopyLanesTest {
  private static final long LARGE = 1 << 20;
  private static final long WAIT_SECONDS = 20;

  @Test
  @DisplayName("the caller and another thread copy at the same time")
  void together() {
    CyclicBarrier both = new CyclicBarrier(2);
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    try (CopyLanes lanes = new CopyLanes("test", 1)) {
      lanes.each(2, LARGE, piece -> {
        seen.add(Thread.currentThread());
        try {
          both.await(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException alone) {
          throw new IllegalStateException("nobody else came", alone);
        }
      });
    }
    assertEquals(2, seen.size());
    assertTrue(seen.contains(Thread.currentThread()));
  }

  @Test
  @DisplayName("every piece is copied once, by however many threads")
  void once() {
    for (int helpers : new int[]{0, 1, 3}) {
      AtomicIntegerArray times = new AtomicIntegerArray(1_000);
      try (CopyLanes lanes = new CopyLanes("test", helpers)) {
        lanes.each(times.length(), LARGE, times::incrementAndGet);
      }
      assertTrue(IntStream.range(0, times.length()).allMatch(piece -> times.get(piece) == 1), () -> "with " + helpers);
    }
  }

  @Test
  @DisplayName("little is copied by the caller alone, which is sooner done than another thread awake")
  void little() {
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    try (CopyLanes lanes = new CopyLanes("test", 3)) {
      lanes.each(100, 4096, piece -> seen.add(Thread.currentThread()));
    }
    assertEquals(Set.of(Thread.currentThread()), seen);
  }

  @Test
  @DisplayName("closed lanes, which have no threads any more, copy all the same")
  void closed() {
    AtomicIntegerArray times = new AtomicIntegerArray(10);
    CopyLanes lanes = new CopyLanes("test", 1);
    lanes.close();
    lanes.each(times.length(), LARGE, times::incrementAndGet);
    assertTrue(IntStream.range(0, times.length()).allMatch(piece -> times.get(piece) == 1));
  }

  @Test
  @DisplayName("what a copy throws is thrown once all others are done, whichever thread had it")
  void thrown() {
    AtomicIntegerArray times = new AtomicIntegerArray(100);
    IntConsumer copy = piece -> {
      times.incrementAndGet(piece);
      if (piece % 2 == 0) throw new IllegalArgumentException("piece " + piece);
    };
    try (CopyLanes lanes = new CopyLanes("test", 1)) {
      assertThrows(IllegalArgumentException.class, () -> lanes.each(times.length(), LARGE, copy));
    }
    assertTrue(IntStream.range(0, times.length()).allMatch(piece -> times.get(piece) == 1));
  }

  @Test
  @DisplayName("an interrupted caller waits for every piece, and is interrupted afterwards")
  void interrupted() {
    CountDownLatch helped = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    AtomicIntegerArray times = new AtomicIntegerArray(2);
    Thread caller = Thread.currentThread();
    try (CopyLanes lanes = new CopyLanes("test", 1)) {
      lanes.each(2, LARGE, piece -> {
        if (Thread.currentThread() == caller) {
          awaitOther(helped);
          caller.interrupt();
          interrupted.countDown();
        } else {
          helped.countDown();
          awaitOther(interrupted);
        }
        times.incrementAndGet(piece);
      });
    }
    assertTrue(Thread.interrupted());
    assertEquals(1, times.get(0));
    assertEquals(1, times.get(1));
  }

  private static void awaitOther(CountDownLatch there) {
    try {
      assertTrue(there.await(WAIT_SECONDS, TimeUnit.SECONDS), "the other thread came");
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
