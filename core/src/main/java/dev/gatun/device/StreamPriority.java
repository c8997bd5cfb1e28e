package dev.gatun.device;

/** Which stream's kernels a GPU starts first when several wait. */
public enum StreamPriority {
  /** Yields to everything else, such as the model that runs beside transfers. */
  LOW,
  /** Goes before everything else that waits. */
  HIGH
}
