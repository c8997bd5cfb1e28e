package dev.gatun.backend;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Which of the engines that have one name, one after the other, an engine is: names are used again, instances are not.
 *
 * @param startedMillis when it was started, since 1970, by the clock of its machine
 * @param tag any number, for engines that were started within one millisecond
 */
public record EngineInstance(long startedMillis, long tag) {

  /** {@return the instance of an engine that is started now} */
  public static EngineInstance startedNow() {
    return new EngineInstance(System.currentTimeMillis(), ThreadLocalRandom.current().nextLong());
  }

  /**
   * {@return whether this one has ended, if both have had the same name}
   *
   * @param other of the same name
   */
  public boolean isBefore(EngineInstance other) {
    return startedMillis < other.startedMillis;
  }
}
