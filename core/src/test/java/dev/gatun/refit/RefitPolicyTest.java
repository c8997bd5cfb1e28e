package dev.gatun.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RefitPolicyTest {
  private static final RefitPolicy DEFAULTS = RefitPolicy.DEFAULT;

  private static String refusal(Executable change) {
    return Thrown.message(IllegalArgumentException.class, change);
  }

  @Test
  @DisplayName("the defaults are the documented ones")
  void defaults() {
    assertEquals(
        new RefitPolicy(OnFailure.FAIL, OtherClients.NONE, RefitOutcome.ISOLATED, Duration.ofSeconds(30), 32, 3,
            Duration.ofMillis(100), 10),
        DEFAULTS);
  }

  @ParameterizedTest
  @EnumSource(value = RefitOutcome.class, names = {"UNVERIFIED", "FAILED"})
  @DisplayName("required: an outcome that leaves old pages readable is refused")
  void required(RefitOutcome outcome) {
    assertEquals("required must be VERIFIED or ISOLATED: " + outcome, refusal(() -> DEFAULTS.withRequired(outcome)));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  @DisplayName("deadline and backOff: positive")
  void durations(long nanos) {
    Duration value = Duration.ofNanos(nanos);
    assertEquals("deadline must be positive: " + value, refusal(() -> DEFAULTS.withDeadline(value)));
    assertEquals("backOff must be positive: " + value, refusal(() -> DEFAULTS.withAttempts(1, value)));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
  @DisplayName("passesMax and attemptsMax: 1 or more")
  void counts(int value) {
    assertEquals("passesMax must be 1 or more: " + value, refusal(() -> DEFAULTS.withPassesMax(value)));
    assertEquals("attemptsMax must be 1 or more: " + value,
        refusal(() -> DEFAULTS.withAttempts(value, Duration.ofMillis(1))));
  }

  @Test
  @DisplayName("leftoversMax: 0 or more")
  void leftovers() {
    assertEquals("leftoversMax must be 0 or more: -1", refusal(() -> DEFAULTS.withLeftoversMax(-1)));
    assertEquals(0, DEFAULTS.withLeftoversMax(0).leftoversMax());
  }

  @Test
  @DisplayName("a back-off that cannot be counted in nanoseconds is refused here, not in the middle of a refit")
  void longest() {
    Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
    Duration hour = Duration.ofHours(1);
    assertEquals("backOff must be at most PT1H: " + forever, refusal(() -> DEFAULTS.withAttempts(2, forever)));
    assertEquals("backOff must be at most PT1H: " + hour.plusNanos(1),
        refusal(() -> DEFAULTS.withAttempts(2, hour.plusNanos(1))));
    RefitPolicy longest = DEFAULTS.withAttempts(Integer.MAX_VALUE, hour).withDeadline(forever)
        .withPassesMax(Integer.MAX_VALUE).withLeftoversMax(Integer.MAX_VALUE);
    assertEquals(RefitOutcome.VERIFIED, Replica.plain(longest).coordinator.refit(Replica.NEW).outcome());
  }

  @Test
  @DisplayName("each change touches its own field alone")
  void changes() {
    Duration second = Duration.ofSeconds(1);
    RefitPolicy all = DEFAULTS.withOnFailure(OnFailure.RETRY).withOtherClients(OtherClients.FENCED)
        .withRequired(RefitOutcome.VERIFIED).withDeadline(second.multipliedBy(2)).withPassesMax(4)
        .withAttempts(5, second).withLeftoversMax(6);
    assertEquals(new RefitPolicy(OnFailure.RETRY, OtherClients.FENCED, RefitOutcome.VERIFIED, second.multipliedBy(2), 4,
        5, second, 6), all);
    assertEquals(DEFAULTS, all.withOnFailure(OnFailure.FAIL).withOtherClients(OtherClients.NONE)
        .withRequired(RefitOutcome.ISOLATED).withDeadline(Duration.ofSeconds(30)).withPassesMax(32)
        .withAttempts(3, Duration.ofMillis(100)).withLeftoversMax(10));
  }

  @ParameterizedTest
  @EnumSource(OnFailure.class)
  @DisplayName("on_failure is read as it is written")
  void words(OnFailure value) {
    assertEquals(value, OnFailure.of(value.word()));
  }

  @Test
  @DisplayName("on_failure: another word is refused with those that are allowed")
  void otherWords() {
    assertEquals(List.of("fail", "retry", "disable-store"), List.of(OnFailure.values()).stream().map(OnFailure::word)
        .toList());
    for (String word : List.of("", "FAIL", "disable_store", " fail", "ignore")) {
      assertEquals("on_failure must be fail, retry or disable-store: \"" + word + '"',
          refusal(() -> OnFailure.of(word)));
    }
  }

  @Test
  @DisplayName("what is required, and better, is accepted; nothing below")
  void accepts() {
    assertTrue(DEFAULTS.accepts(RefitOutcome.VERIFIED));
    assertTrue(DEFAULTS.accepts(RefitOutcome.ISOLATED));
    assertFalse(DEFAULTS.accepts(RefitOutcome.UNVERIFIED));
    assertFalse(DEFAULTS.accepts(RefitOutcome.FAILED));
    assertFalse(DEFAULTS.withRequired(RefitOutcome.VERIFIED).accepts(RefitOutcome.ISOLATED));
  }
}
