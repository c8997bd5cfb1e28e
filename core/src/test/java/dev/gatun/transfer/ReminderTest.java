package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReminderTest {
  @Test
  @DisplayName("it comes ever more rarely, and not for ever")
  void times() {
    Reminder reminder = new Reminder(0);
    assertFalse(reminder.due(1));
    int times = 0;
    long lastMillis = 0;
    long lastPauseMillis = 0;
    for (long millis = 0; millis < Duration.ofHours(1).toMillis(); millis++) {
      if (!reminder.due(millis * 1_000_000)) continue;
      times++;
      assertTrue(millis - lastMillis >= lastPauseMillis, () -> "sooner than the time before");
      lastPauseMillis = millis - lastMillis;
      lastMillis = millis;
      assertFalse(reminder.isOver(millis * 1_000_000), "an answer may come");
    }
    assertEquals(Reminder.TIMES_MAX, times);
    assertTrue(reminder.isSpent());
    assertTrue(reminder.isOver(Duration.ofHours(1).toNanos()));
    long minutes = Duration.ofMillis(lastMillis).toMinutes();
    assertTrue(minutes >= 10 && minutes <= 20, () -> "minutes: " + minutes);
  }
}
