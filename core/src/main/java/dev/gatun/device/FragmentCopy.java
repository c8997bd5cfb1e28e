package dev.gatun.device;

/**
 * Moves fragments of pages between the places that a table names and one contiguous range. Each call queues its work on the
 * table's stream and returns; it allocates nothing. Usable by any thread.
 *
 * <p>Kernels ({@link PageCopy}) reach the speed of the link with fragments of any size, but take from the GPU's multiprocessors;
 * the copy engine ({@link DmaCopy}) takes nothing from them, and pays for each fragment.
 */
public sealed interface FragmentCopy permits PageCopy, DmaCopy {

  /**
   * Queues: fragments, in the table's order, into one contiguous range.
   *
   * @param table where they lie
   * @param first entry to begin with
   * @param count entries
   * @param target where to; device memory or a pinned slab
   * @param targetOffset bytes from its start
   * @throws IllegalArgumentException if the table has not these entries, the range is not the target's, or it is another
   *     GPU's
   */
  void gather(FragmentTable table, int first, int count, DeviceMemory target, long targetOffset);

  /**
   * Queues: one contiguous range into fragments, in the table's order.
   *
   * @param source where from; device memory or a pinned slab
   * @param sourceOffset bytes from its start
   * @param table where the fragments lie
   * @param first entry to begin with
   * @param count entries
   * @throws IllegalArgumentException as {@link #gather}
   */
  void scatter(DeviceMemory source, long sourceOffset, FragmentTable table, int first, int count);
}
