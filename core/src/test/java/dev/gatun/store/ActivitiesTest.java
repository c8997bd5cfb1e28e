package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.Deadline;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ActivitiesTest {
  private final Activities activities = new Activities();

  @Test
  @DisplayName("K1.06 a batch that tries again and again at the closed gate holds up no drain")
  void seenOnceAtRest() {
    activities.open("batch", null);
    // runs, ends, and is on its way to the next refusal whenever one looks again
    Iterator<Boolean> running = Stream.concat(Stream.of(true, false), Stream.generate(() -> true)).iterator();

    List<String> left = activities.awaitNone(activity -> running.next(), Deadline.after(Duration.ofSeconds(20)));

    assertEquals(List.of(), left);
  }

  @Test
  @DisplayName("what runs until the deadline is named")
  void runsOn() {
    activities.open("batch", null).begin("put", 3);

    assertEquals(List.of("put of 3 keys for 0.0 s on thread " + Thread.currentThread().getName()),
        activities.awaitNone(Activity::running, Deadline.after(Duration.ZERO)));
  }
}
