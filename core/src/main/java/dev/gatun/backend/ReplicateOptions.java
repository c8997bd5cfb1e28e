package dev.gatun.backend;

import java.util.List;

/**
 * How a put places its object.
 *
 * @param replicas copies wanted, 1 or more; best effort, at most one a segment
 * @param softPin evict only after ordinary objects
 * @param hardPin never evict; such objects fill memory until they are removed
 * @param preferredSegments segment names ({@code host:port} as {@code hostname()} gives them) to place replicas in;
 *     names that are unknown or full are ignored by the store
 */
public record ReplicateOptions(int replicas, boolean softPin, boolean hardPin, List<String> preferredSegments) {
  /** One replica, no pin, no preference. */
  public static final ReplicateOptions DEFAULT = new ReplicateOptions(1, false, false, List.of());

  // 64: far above any replica count in use; a bound against typing errors, unmeasured
  private static final int REPLICAS_MAX = 64;

  /** Refuses replica counts outside 1 to 64 and empty segment names. */
  public ReplicateOptions {
    if (replicas < 1 || replicas > REPLICAS_MAX) {
      throw new IllegalArgumentException("replicas must be 1 to " + REPLICAS_MAX + ": " + replicas);
    }
    preferredSegments = List.copyOf(preferredSegments);
    for (String segment : preferredSegments) {
      if (segment.isBlank() || segment.indexOf('\0') >= 0) {
        throw new IllegalArgumentException("preferredSegments must hold host:port names: \"" + segment + '"');
      }
    }
  }

  /** {@return the default, but never evicted} */
  public static ReplicateOptions hardPinned() {
    return new ReplicateOptions(1, false, true, List.of());
  }
}
