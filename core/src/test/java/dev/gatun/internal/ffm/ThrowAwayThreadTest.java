package dev.gatun.internal.ffm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ThrowAwayThreadTest {
  @Test
  @DisplayName("P1 the work runs on a platform thread of its own, which has ended afterwards")
  void ownThread() throws InterruptedException {
    Thread worker = ThrowAwayThread.call("spoiled", Thread::currentThread);
    assertNotEquals(Thread.currentThread(), worker);
    assertEquals("spoiled", worker.getName());
    assertTrue(!worker.isVirtual() && worker.isDaemon());
    worker.join();
  }

  @Test
  @DisplayName("what the work throws reaches the caller, with the caller's stack attached")
  void throwsThrough() {
    IllegalStateException thrown = assertThrows(IllegalStateException.class,
        () -> ThrowAwayThread.call("spoiled", () -> {
          throw new IllegalStateException("inside");
        }));
    assertEquals("inside", thrown.getMessage());
    assertTrue(Arrays.stream(thrown.getSuppressed()[0].getStackTrace())
        .anyMatch(frame -> frame.getMethodName().contains("throwsThrough")));
    assertThrows(UnsatisfiedLinkError.class, () -> ThrowAwayThread.call("spoiled", () -> {
      throw new UnsatisfiedLinkError();
    }));
  }

  @Test
  @DisplayName("an interrupt does not lose the result, and is pending afterwards")
  void interrupted() {
    Thread.currentThread().interrupt();
    assertEquals(7, ThrowAwayThread.call("spoiled", () -> 7));
    assertTrue(Thread.interrupted());
  }
}
