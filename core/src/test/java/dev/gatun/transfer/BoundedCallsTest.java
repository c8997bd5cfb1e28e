package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.testing.Await;
import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BoundedCallsTest {
  private final BoundedCalls calls = new BoundedCalls("test");
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private final AtomicInteger ended = new AtomicInteger();

  private int silent() {
    try {
      goesOn.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return ended.incrementAndGet();
  }

  @Test
  @DisplayName("a peer that answers nothing takes so many calls and no more, and holds up no other")
  void oneIsSilent() {
    for (int i = 0; i < BoundedCalls.PEER_MAX; i++) {
      assertThrows(DeadlineException.class,
          () -> calls.within("notify", "silent", Deadline.after(Duration.ZERO), this::silent));
    }
    assertEquals("notify silent refused: " + BoundedCalls.PEER_MAX + " calls to it wait for an answer",
        Thrown.message(TooManyRequestsException.class,
            () -> calls.within("notify", "silent", Deadline.after(Duration.ZERO), this::silent)));
    assertEquals(7, calls.within("notify", "other", Deadline.after(Duration.ofSeconds(30)), () -> 7));
    goesOn.countDown();
    Await.until("all have ended", () -> ended.get() == BoundedCalls.PEER_MAX);
    Await.until("it takes calls again", this::answers);
    calls.close();
    assertThrows(ClosedException.class, () -> calls.within("notify", "other", Deadline.after(Duration.ZERO), () -> 7));
  }

  private boolean answers() {
    try {
      return calls.within("notify", "silent", Deadline.after(Duration.ofSeconds(30)), () -> true);
    } catch (TooManyRequestsException stillRunning) {
      return false;
    }
  }
}
