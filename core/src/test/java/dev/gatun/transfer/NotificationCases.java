package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.always;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineNotification;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/** Messages arrive as they were sent, once. */
final class NotificationCases {
  private NotificationCases() {}

  static List<TransferCase> all() {
    return List.of(
        always("a message of any bytes arrives as it was sent, with its sender", NotificationCases::anyBytes),
        always("the message of a batch arrives once, after its bytes", NotificationCases::afterBytes),
        always("waiting for a message ends at the deadline", NotificationCases::none),
        always("a message that is too long is refused before it is sent", NotificationCases::tooLong));
  }

  private static void anyBytes(TransferBench bench) {
    byte[] message = new byte[100_000];
    new Random(1).nextBytes(message);
    bench.here.engine.notify(bench.peer, message, deadline());
    bench.here.engine.notify(bench.peer, new byte[0], deadline());
    EngineNotification first = Objects.requireNonNull(bench.there.engine.takeNotification(deadline()));
    assertArrayEquals(message, first.message());
    assertEquals(bench.here.engine.segmentName(), first.from());
    assertEquals(0, Objects.requireNonNull(bench.there.engine.takeNotification(deadline())).message().length);
    assertNull(bench.there.engine.pollNotification());
  }

  private static void afterBytes(TransferBench bench) {
    long mine = bench.here.filled(3);
    long theirs = bench.there.filled(0);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      for (int round = 0; round < 20; round++) {
        TransferBench.fill(bench.here.pool.rewrite(mine), round);
        String text = "round " + round;
        run(batch.clear().write(mine, bench.peer, bench.there.address(theirs))
            .message(text.getBytes(StandardCharsets.UTF_8)));
        assertTrue(batch.notified());
        assertEquals(text, Objects.requireNonNull(bench.there.engine.takeNotification(deadline())).text());
        assertTrue(TransferBench.holds(bench.there.pool.page(theirs), round));
      }
    }
    assertNull(bench.there.engine.pollNotification());
  }

  private static void none(TransferBench bench) {
    assertNull(bench.there.engine.takeNotification(Deadline.after(Duration.ofMillis(20))));
  }

  private static void tooLong(TransferBench bench) {
    byte[] large = new byte[bench.here.engine.capabilities().notificationBytesMax() + 1];
    assertThrows(IllegalArgumentException.class, () -> bench.here.engine.notify(bench.peer, large, deadline()));
    bench.here.engine.notify(bench.peer, new byte[large.length - 1], deadline());
    assertEquals(large.length - 1,
        Objects.requireNonNull(bench.there.engine.takeNotification(deadline())).message().length);
  }
}
