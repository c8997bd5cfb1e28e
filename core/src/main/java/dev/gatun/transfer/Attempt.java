package dev.gatun.transfer;

import dev.gatun.backend.EngineInstance;
import java.util.UUID;

/**
 * An attempt at a hand-over that the grantee has named beforehand: granted to it, it may begin without asking. Made by
 * {@link AttemptLine}, handed over out of band.
 *
 * @param segment name of the grantee's engine
 * @param instance which engine of that name
 * @param line on which the grants come, a number of the grantee's
 * @param number of the attempt on its line, from 1 on; a grantee begins none after one with a greater number
 */
public record Attempt(String segment, EngineInstance instance, long line, long number) {

  /** Refuses a number that no attempt has. */
  public Attempt {
    if (number < 1) throw new IllegalArgumentException("number must be positive: " + number);
  }

  /** {@return the one after this on the same line} */
  public Attempt next() {
    return new Attempt(segment, instance, line, number + 1);
  }

  UUID id() {
    return new UUID(line, number);
  }
}
