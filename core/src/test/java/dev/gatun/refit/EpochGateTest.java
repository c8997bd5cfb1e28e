package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.NEXT;
import static dev.gatun.refit.Replica.OLD;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.EpochGate.State;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class EpochGateTest {
  private final EpochGate gate = new EpochGate(OLD);

  @Test
  @DisplayName("an operation that is inside when the epoch is raised is never told the new epoch")
  void ticketBindsEpoch() {
    int ticket = gate.enter("put");
    assertEquals(OLD, gate.epoch(ticket));

    gate.close();
    gate.raise(NEW);

    assertThrows(EpochChangedException.class, () -> gate.epoch(ticket));
    assertFalse(gate.isCurrent(ticket));
    assertEquals(1, gate.awaitDrained(Deadline.after(Duration.ZERO)));
    gate.exit(ticket);
    assertEquals(0, gate.awaitDrained(Deadline.after(Duration.ZERO)));
  }

  @Test
  @DisplayName("a closed gate refuses at once, and says for which refit")
  void closedRefuses() {
    gate.close();
    gate.raise(NEW);

    GateClosedException refusal = assertThrows(GateClosedException.class, () -> gate.enter("put"));
    assertEquals("put refused: a refit to run@2 is in progress; compute again when it has opened the gate",
        refusal.getMessage());
    assertEquals(0, gate.inside());
  }

  @Test
  @DisplayName("whoever waits for the gate enters under the new epoch")
  void waitsForOpening() throws Exception {
    gate.close();
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<WeightEpoch> waiting = threads.submit(() -> {
        int ticket = gate.awaitEnter("get", Deadline.after(Duration.ofSeconds(10)));
        try {
          return gate.epoch(ticket);
        } finally {
          gate.exit(ticket);
        }
      });
      gate.raise(NEW);
      gate.open(State.OPEN);
      assertEquals(NEW, waiting.get(10, TimeUnit.SECONDS));
    }
  }

  @Test
  @DisplayName("whoever waits is told that the store is disabled, or that the deadline came")
  void waitsInVain() {
    gate.close();
    assertThrows(DeadlineException.class, () -> gate.awaitEnter("get", Deadline.after(Duration.ZERO)));
    gate.open(State.DISABLED);
    assertEquals(-1, gate.awaitEnter("get", Deadline.after(Duration.ofSeconds(10))));
    assertThrows(GateClosedException.class, () -> gate.enter("put"));
  }

  @Test
  @DisplayName("the epoch is raised behind a closed gate only, and never goes back")
  void raising() {
    assertThrows(IllegalStateException.class, () -> gate.raise(NEW));
    gate.close();
    gate.raise(NEW);
    assertThrows(IllegalArgumentException.class, () -> gate.raise(NEW));
    assertThrows(IllegalArgumentException.class, () -> gate.raise(OLD));
    gate.raise(new WeightEpoch("other", 0));
    assertThrows(IllegalArgumentException.class, () -> gate.raise(NEW));
    gate.raise(NEXT);
    assertEquals(3, gate.ordinal());
  }

  @Test
  @DisplayName("no operation that entered before the close is outside the drain, and none gets the new epoch for old bytes")
  void closeAgainstEnter() throws Exception {
    int refits = 500;
    AtomicLong weights = new AtomicLong(OLD.version());
    AtomicLong working = new AtomicLong();
    AtomicLong entered = new AtomicLong();
    AtomicBoolean over = new AtomicBoolean();
    List<Future<?>> operations = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int i = 0; i < 4; i++) {
        operations.add(threads.submit(() -> {
          while (!over.get())
            operate(weights, working, entered);
        }));
      }
      for (int version = 2; version < refits + 2; version++) {
        // each refit meets traffic
        long before = entered.get();
        Await.until("an operation entered", () -> entered.get() > before);
        gate.close();
        boolean drainFirst = version % 2 == 0;
        if (drainFirst) {
          assertEquals(0, gate.awaitDrained(Deadline.after(Duration.ofSeconds(30))));
          assertEquals(0, working.get(), "an operation was outside the drain");
        }
        gate.raise(new WeightEpoch("run", version));
        weights.set(version);
        gate.open(State.OPEN);
      }
      over.set(true);
      for (Future<?> operation : operations)
        operation.get(30, TimeUnit.SECONDS);
    }
    assertEquals(0, gate.inside());
    assertTrue(entered.get() >= refits);
  }

  private void operate(AtomicLong weights, AtomicLong working, AtomicLong entered) {
    int ticket;
    try {
      ticket = gate.enter("put");
    } catch (GateClosedException e) {
      LockSupport.parkNanos(10_000);
      return;
    }
    try {
      working.incrementAndGet();
      entered.incrementAndGet();
      long computedWith = weights.get();
      long key = gate.epoch(ticket).version();
      assertTrue(key <= computedWith, () -> "bytes of " + computedWith + " under a key of " + key);
    } catch (EpochChangedException e) {
      // refused: its bytes are old
    } finally {
      working.decrementAndGet();
      gate.exit(ticket);
    }
  }
}
