package dev.gatun.connector;

import java.util.List;

/**
 * What ended on the worker side since it was last asked.
 *
 * @param loads loads that ended, well or not
 * @param saves saves that ended, well or not
 */
public record FinishedTransfers(List<Load> loads, List<Save> saves) {
  /** Nothing ended. */
  public static final FinishedTransfers NONE = new FinishedTransfers(List.of(), List.of());

  /** Makes the lists immutable. */
  public FinishedTransfers {
    loads = List.copyOf(loads);
    saves = List.copyOf(saves);
  }

  /**
   * The load of a request, as one.
   *
   * @param connector which connector's
   * @param request id of the request
   * @param job number of the load, as the plan gave it
   * @param missing places, in the request, of blocks that do not hold their page: compute these anew. In order
   * @param reason why; empty if none is missing
   */
  public record Load(String connector, String request, long job, List<Integer> missing, String reason) {
    /** Makes the list immutable. */
    public Load {
      missing = List.copyOf(missing);
    }

    /** {@return whether every block holds its page} */
    public boolean complete() {
      return missing.isEmpty();
    }
  }

  /**
   * One of the saves of a request.
   *
   * @param connector which connector's
   * @param request id of the request
   * @param job number of the save, as the plan gave it
   * @param failedBlocks blocks that were not stored
   * @param reason why; empty if all were
   */
  public record Save(String connector, String request, long job, int failedBlocks, String reason) {
    /** {@return whether all blocks were stored} */
    public boolean complete() {
      return failedBlocks == 0;
    }
  }

  /** {@return whether nothing ended} */
  public boolean isEmpty() {
    return loads.isEmpty() && saves.isEmpty();
  }
}
