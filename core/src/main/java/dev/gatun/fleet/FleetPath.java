package dev.gatun.fleet;

import java.util.List;
import java.util.Locale;

/** Where in a training step a fleet is reset. Every path empties the store and proves it. */
public enum FleetPath {
  /** New weights are loaded: pauses, resets, resumes. */
  AFTER_WEIGHT_SYNC,
  /** Weights are about to be loaded: pauses and resets; the engines stay paused. */
  PAUSE,
  /** Engines slept: wakes them with tags by their mode, then as after a weight sync. */
  WAKE_UP,
  /** As after a weight sync, but an engine that was paused before stays so. */
  CLEAR_KV_CACHE,
  /** As {@link #PAUSE}, but running requests end at once, whatever the pause mode. */
  ABORT_ALL,
  /** Pauses, resets, puts to sleep, and only then looks at the store, which sleeping wipes as well. */
  SLEEP;

  /** {@return the word that configurations use, such as {@code after-weight-sync}} */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  List<Phase> phases() {
    return switch (this) {
      case AFTER_WEIGHT_SYNC, CLEAR_KV_CACHE -> List.of(Phase.PAUSE, Phase.RESET, Phase.STORE, Phase.RESUME);
      case PAUSE, ABORT_ALL -> List.of(Phase.PAUSE, Phase.RESET, Phase.STORE);
      case WAKE_UP -> List.of(Phase.WAKE, Phase.PAUSE, Phase.RESET, Phase.STORE, Phase.RESUME);
      case SLEEP -> List.of(Phase.PAUSE, Phase.RESET, Phase.SLEEP, Phase.STORE);
    };
  }
}
