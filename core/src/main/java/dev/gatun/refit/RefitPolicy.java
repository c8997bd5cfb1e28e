package dev.gatun.refit;

import java.time.Duration;
import java.util.Locale;

/**
 * What a refit may take and what it does when the proof fails. Immutable; start from {@link #DEFAULT}.
 *
 * @param onFailure what opens when the outcome is below {@code required}
 * @param otherClients who else puts into the same master
 * @param required the least outcome with which the gate opens: {@link RefitOutcome#VERIFIED} or
 *     {@link RefitOutcome#ISOLATED}
 * @param deadline longest time of one attempt; begin takes at most half of it to drain
 * @param passesMax most forced removals an attempt sends to one store, 1 or more
 * @param attemptsMax most attempts under {@link OnFailure#RETRY}, 1 or more; the others make one
 * @param backOff wait before the second attempt, doubled before each further one; at most an hour
 * @param leftoversMax most names of leftover objects in a report, 0 or more
 */
public record RefitPolicy(OnFailure onFailure, OtherClients otherClients, RefitOutcome required, Duration deadline,
    int passesMax, int attemptsMax, Duration backOff, int leftoversMax) {
  // as long as a get waits at the gate at most; keeps the doubled waits countable in nanoseconds
  private static final Duration BACK_OFF_MAX = Duration.ofHours(1);

  /** What happens to the gate when a refit did not reach what is required. */
  public enum OnFailure {
    /** The gate stays closed until a later refit succeeds. */
    FAIL,
    /** Attempts again, with back-off and a bound; then as {@link #FAIL}. */
    RETRY,
    /** Opens with the store disabled: gets miss, puts are refused, the host computes everything itself. */
    DISABLE_STORE;

    /**
     * {@return the constant for a configured word}
     *
     * @param word {@code fail}, {@code retry} or {@code disable-store}
     * @throws IllegalArgumentException for another word
     */
    public static OnFailure of(String word) {
      for (OnFailure value : values()) {
        if (value.word().equals(word)) return value;
      }
      throw new IllegalArgumentException("on_failure must be fail, retry or disable-store: \"" + word + '"');
    }

    /** {@return the word that configurations use} */
    public String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Who else puts into the master, as the operator knows it; the master's counters are held against it. */
  public enum OtherClients {
    /** Nobody: any put that is not ours, since the last refit or the start, spoils the proof. */
    NONE,
    /** Others, whom somebody has stopped for the time of the refit: only their puts during it spoil the proof. */
    FENCED,
    /** Others, whom nobody stops: their old pages may land after any proof, so there is none. */
    UNFENCED
  }

  /** Stays closed on failure; nobody else puts; 30 s; 32 passes; 3 attempts from 100 ms on; 10 names. */
  // 30 s: a master that refuses connections answers after 4.3 s, and an attempt asks it up to 4 times in a row.
  // 32 passes, 3 attempts, 100 ms, 10 names: unmeasured defaults
  public static final RefitPolicy DEFAULT = new RefitPolicy(OnFailure.FAIL, OtherClients.NONE, RefitOutcome.ISOLATED,
      Duration.ofSeconds(30), 32, 3, Duration.ofMillis(100), 10);

  /** Refuses values out of range, naming the field. */
  public RefitPolicy {
    if (!required.safe()) throw new IllegalArgumentException("required must be VERIFIED or ISOLATED: " + required);
    positive("deadline", deadline);
    positive("backOff", backOff);
    if (backOff.compareTo(BACK_OFF_MAX) > 0) {
      throw new IllegalArgumentException("backOff must be at most " + BACK_OFF_MAX + ": " + backOff);
    }
    if (passesMax < 1) throw new IllegalArgumentException("passesMax must be 1 or more: " + passesMax);
    if (attemptsMax < 1) throw new IllegalArgumentException("attemptsMax must be 1 or more: " + attemptsMax);
    if (leftoversMax < 0) throw new IllegalArgumentException("leftoversMax must be 0 or more: " + leftoversMax);
  }

  /**
   * {@return this policy with another reaction to failure}
   *
   * @param value see the record
   */
  public RefitPolicy withOnFailure(OnFailure value) {
    return new RefitPolicy(value, otherClients, required, deadline, passesMax, attemptsMax, backOff, leftoversMax);
  }

  /**
   * {@return this policy with other clients declared}
   *
   * @param value see the record
   */
  public RefitPolicy withOtherClients(OtherClients value) {
    return new RefitPolicy(onFailure, value, required, deadline, passesMax, attemptsMax, backOff, leftoversMax);
  }

  /**
   * {@return this policy with another least outcome}
   *
   * @param value see the record
   */
  public RefitPolicy withRequired(RefitOutcome value) {
    return new RefitPolicy(onFailure, otherClients, value, deadline, passesMax, attemptsMax, backOff, leftoversMax);
  }

  /**
   * {@return this policy with another deadline}
   *
   * @param value see the record
   */
  public RefitPolicy withDeadline(Duration value) {
    return new RefitPolicy(onFailure, otherClients, required, value, passesMax, attemptsMax, backOff, leftoversMax);
  }

  /**
   * {@return this policy with another bound of removal passes}
   *
   * @param value see the record
   */
  public RefitPolicy withPassesMax(int value) {
    return new RefitPolicy(onFailure, otherClients, required, deadline, value, attemptsMax, backOff, leftoversMax);
  }

  /**
   * {@return this policy with another bound of attempts}
   *
   * @param max see {@code attemptsMax}
   * @param wait see {@code backOff}
   */
  public RefitPolicy withAttempts(int max, Duration wait) {
    return new RefitPolicy(onFailure, otherClients, required, deadline, passesMax, max, wait, leftoversMax);
  }

  /**
   * {@return this policy with another bound of names}
   *
   * @param value see the record
   */
  public RefitPolicy withLeftoversMax(int value) {
    return new RefitPolicy(onFailure, otherClients, required, deadline, passesMax, attemptsMax, backOff, value);
  }

  /**
   * {@return whether the gate may open}
   *
   * @param outcome what was reached
   */
  public boolean accepts(RefitOutcome outcome) {
    return outcome.compareTo(required) <= 0;
  }

  private static void positive(String field, Duration value) {
    if (value.isNegative() || value.isZero()) throw new IllegalArgumentException(field + " must be positive: " + value);
  }
}
