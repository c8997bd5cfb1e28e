package dev.gatun.connector;

/**
 * A request's part in a step.
 *
 * @param request as it is in this step
 * @param blocks leases of its leading blocks; stay the host's
 * @param computedBlocks leading full blocks whose KV is in the cache once the step has run, found and loaded ones
 *     included; only these are saved
 */
public record ScheduledRequest(KvRequest request, BlockTable blocks, int computedBlocks) {
  /** Refuses more computed blocks than there are keys or blocks. */
  public ScheduledRequest {
    int most = Math.min(request.keys().size(), blocks.size());
    if (computedBlocks < 0 || computedBlocks > most) {
      throw new IllegalArgumentException("computedBlocks of request " + request.id() + " must be 0 to " + most + ": "
          + computedBlocks);
    }
  }
}
