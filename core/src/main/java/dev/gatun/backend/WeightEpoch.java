package dev.gatun.backend;

import java.util.regex.Pattern;

/**
 * Which weights a KV page was computed with: the trainer's run and its weight version, strictly increasing within a
 * run. Both come from the trainer; Gatun never invents them.
 *
 * @param run name of the training run: 1 to 64 letters, digits, dots, underscores or hyphens, since it stands in keys
 * @param version weight version within the run, 0 or more
 */
public record WeightEpoch(String run, long version) {
  // 64: keeps epoch prefixes of keys short; the set keeps keys free of separators and of regex syntax
  private static final Pattern RUN = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /** Refuses an empty, long or strange run name and a negative version. */
  public WeightEpoch {
    if (!RUN.matcher(run).matches()) {
      throw new IllegalArgumentException("run must be 1 to 64 of [A-Za-z0-9._-]: \"" + run + '"');
    }
    if (version < 0) throw new IllegalArgumentException("version must be 0 or more: " + version);
  }

  /**
   * {@return whether this epoch may follow {@code other}: another run, or the same run with a higher version}
   *
   * @param other the epoch in force
   */
  public boolean follows(WeightEpoch other) {
    return !run.equals(other.run) || version > other.version;
  }

  @Override
  public String toString() {
    return run + '@' + version;
  }
}
