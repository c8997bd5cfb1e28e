package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.testing.Await;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class NoticeSenderTest {
  private final NoticeSender sender = new NoticeSender("test");
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private final List<Integer> sent = Collections.synchronizedList(new ArrayList<>());

  private void sendWhenItGoesOn(int message) {
    begun.countDown();
    try {
      assertTrue(goesOn.await(30, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    sent.add(message);
  }

  @Test
  @DisplayName("messages for a peer that takes none hold up no other peer, and arrive in order once it does")
  void oneIsSilent() {
    List<NoticeSender.Delivery> silent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int message = i;
      silent.add(sender.send(1, () -> sendWhenItGoesOn(message)));
    }
    NoticeSender.Delivery other = sender.send(2, () -> {});
    Await.until("the other has its message", other::delivered);
    assertFalse(silent.stream().anyMatch(NoticeSender.Delivery::isOver));
    goesOn.countDown();
    Await.until("the silent one has its messages",
        () -> silent.stream().allMatch(NoticeSender.Delivery::delivered));
    for (int i = 0; i < 20; i++)
      assertEquals(i, sent.get(i));
    sender.close();
  }

  @Test
  @DisplayName("an error on the way loses its message, not the peer")
  void error() {
    NoticeSender.Delivery lost = sender.send(1, () -> {
      throw new StackOverflowError("unexpected");
    });
    NoticeSender.Delivery next = sender.send(1, () -> sent.add(1));
    Await.until("both have ended", () -> lost.isOver() && next.isOver());
    assertFalse(lost.delivered());
    assertTrue(next.delivered());
    sender.close();
  }

  @Test
  @DisplayName("what cannot be sent, and what waits when the sender is closed, ends undelivered")
  void undelivered() {
    NoticeSender.Delivery failed = sender.send(1, () -> {
      throw new EngineException("notify", EngineCode.SOCKET, -102, "gone");
    });
    NoticeSender.Delivery running = sender.send(2, () -> sendWhenItGoesOn(0));
    NoticeSender.Delivery waiting = sender.send(2, () -> sent.add(1));
    Await.until("one has failed", failed::isOver);
    assertFalse(failed.delivered());
    Await.until("the next is being sent", () -> begun.getCount() == 0);
    sender.close();
    NoticeSender.Delivery late = sender.send(3, () -> sent.add(2));
    assertTrue(late.isOver() && !late.delivered());
    goesOn.countDown();
    Await.until("all have ended", () -> running.isOver() && waiting.isOver());
    assertFalse(waiting.delivered());
    assertEquals(List.of(0), sent);
  }
}
