package dev.gatun.fleet;

/** How a rollout engine shares its GPUs with the trainer. */
public enum RolloutMode {
  /** It takes turns with the trainer in one process: woken with given tags, or the default ones. */
  HYBRID,
  /** It takes turns with the trainer on the same GPUs: woken with the default tags. */
  COLOCATED,
  /** It has GPUs of its own and never sleeps: there is nothing to wake or to put to sleep. */
  STANDALONE
}
