package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Await;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final List<String> delivered = Collections.synchronizedList(new ArrayList<>());

  private static HandoverMessage message(Kind kind) {
    return HandoverMessage.of(kind, UUID.randomUUID(), UUID.randomUUID(), new WeightEpoch("run", 1));
  }

  @Test
  @DisplayName("a peer that takes nothing holds up no other, and its messages arrive in order once it does")
  void oneIsSilent() throws InterruptedException {
    CountDownLatch goesOn = new CountDownLatch(1);
    Outbox outbox = new Outbox("test", (peer, message) -> {
      if (peer.equals("silent")) await(goesOn);
      delivered.add(peer + ' ' + message.kind());
    });
    for (int i = 0; i < 50; i++) {
      outbox.send("silent", message(Kind.ACCEPTED));
      outbox.send("silent", message(Kind.REVOKE));
    }
    outbox.send("other", message(Kind.CONFIRMED));
    Await.until("the other is told", () -> delivered.equals(List.of("other CONFIRMED")));
    assertFalse(outbox.isEmpty());
    goesOn.countDown();
    Await.until("all are told", outbox::isEmpty);
    assertEquals(101, delivered.size());
    for (int i = 1; i < 101; i++)
      assertEquals(i % 2 == 1 ? "silent ACCEPTED" : "silent REVOKE", delivered.get(i));
    outbox.close();
    outbox.send("other", message(Kind.CONFIRMED));
    assertTrue(outbox.isEmpty());
  }

  @Test
  @DisplayName("what is not delivered is tried again, a few times, and then what is behind it")
  void tries() {
    Outbox outbox = new Outbox("test", (peer, message) -> {
      delivered.add(message.kind().toString());
      if (message.kind() == Kind.REVOKE) throw new EngineException("notify", EngineCode.SOCKET, -102, peer);
      if (message.kind() == Kind.CHANGED) throw new IllegalStateException("unexpected");
    });
    outbox.send("peer", message(Kind.REVOKE));
    outbox.send("peer", message(Kind.CHANGED));
    outbox.send("peer", message(Kind.ABORTED));
    Await.until("all were tried", outbox::isEmpty);
    List<String> expected = new ArrayList<>(Collections.nCopies(Outbox.TRIES_MAX, "REVOKE"));
    expected.addAll(List.of("CHANGED", "ABORTED"));
    assertEquals(expected, delivered);
    outbox.close();
  }

  @Test
  @DisplayName("an error on the way loses its message, not the peer")
  void error() {
    Outbox outbox = new Outbox("test", (peer, message) -> {
      delivered.add(message.kind().toString());
      if (message.kind() == Kind.REVOKE) throw new StackOverflowError("unexpected");
    });
    outbox.send("peer", message(Kind.REVOKE));
    outbox.send("peer", message(Kind.ABORTED));
    Await.until("all were tried", outbox::isEmpty);
    assertEquals(List.of("REVOKE", "ABORTED"), delivered);
    outbox.close();
  }

  @Test
  @DisplayName("messages for a peer that takes nothing do not pile up without end")
  void bounded() {
    CountDownLatch goesOn = new CountDownLatch(1);
    Outbox outbox = new Outbox("test", (peer, message) -> {
      await(goesOn);
      delivered.add(peer);
    });
    for (int i = 0; i < Outbox.WAITING_MAX + 10; i++)
      outbox.send("silent", message(Kind.ABORTED));
    goesOn.countDown();
    Await.until("all are told", outbox::isEmpty);
    assertTrue(delivered.size() <= Outbox.WAITING_MAX + 1, () -> "delivered: " + delivered.size());
    outbox.close();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
