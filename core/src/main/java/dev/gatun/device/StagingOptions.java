package dev.gatun.device;

import dev.gatun.backend.ByteSize;

/**
 * How a {@link StagingPipeline} moves pages.
 *
 * @param ringBytes device memory for pages on their way, for each direction in use; at least two chunks. Gathers of a low
 *     priority start only when a kernel of the model ends: a ring below link speed times the longest kernel starves
 * @param chunkBytes what one kernel and one copy move at a time
 * @param saveDirectBytes fragments of this size or more are saved by a copy each, with no kernel and no ring
 * @param loadDirectBytes the same for loads; {@link StagingMeasurement} finds which way is faster
 * @param saveStraight whether a kernel writes the smaller ones to host memory itself, with no ring. Beside a model that stalls
 *     it on GPUs behind PCIe; for hosts whose GPU and CPU share memory coherently, where it was measured to be better
 * @param loadStraight the same for loads
 */
public record StagingOptions(long ringBytes, long chunkBytes, long saveDirectBytes, long loadDirectBytes,
    boolean saveStraight, boolean loadStraight) {
  private static final long MIB = 1L << 20;
  // an H200's link moves 96 MiB in 1.8 ms; kernels of 1.6 ms starved a ring of 64 MiB (ceilings of an H200)
  private static final long RING_BYTES = 96 * MIB;
  // 16 MiB: kernels of the model leave room only when they end, for so many gathers: decision 0006
  private static final long CHUNK_BYTES = 16 * MIB;
  // 4 MiB: a copy of its own costs some microseconds, which is 2 % of it there; unmeasured default
  private static final long DIRECT_BYTES = 4 * MIB;

  /** 96 MiB in chunks of 16 MiB; fragments of 4 MiB or more alone. */
  public static final StagingOptions DEFAULT = new StagingOptions(RING_BYTES, CHUNK_BYTES, DIRECT_BYTES);

  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field, its value and what is allowed
   */
  public StagingOptions {
    if (chunkBytes <= 0) throw new IllegalArgumentException("chunkBytes must be positive: " + chunkBytes);
    if (ringBytes / 2 < chunkBytes) {
      throw new IllegalArgumentException("ringBytes must be two chunks of " + ByteSize.format(chunkBytes) + " or more: "
          + ringBytes);
    }
    if (saveDirectBytes <= 0 || loadDirectBytes <= 0) {
      throw new IllegalArgumentException(
          "saveDirectBytes and loadDirectBytes must be positive: " + saveDirectBytes + ", " + loadDirectBytes);
    }
  }

  /**
   * With no kernel at host memory.
   *
   * @param ringBytes as above
   * @param chunkBytes as above
   * @param saveDirectBytes as above
   * @param loadDirectBytes as above
   */
  public StagingOptions(long ringBytes, long chunkBytes, long saveDirectBytes, long loadDirectBytes) {
    this(ringBytes, chunkBytes, saveDirectBytes, loadDirectBytes, false, false);
  }

  /**
   * Both directions alike.
   *
   * @param ringBytes as above
   * @param chunkBytes as above
   * @param directBytes of both directions
   */
  public StagingOptions(long ringBytes, long chunkBytes, long directBytes) {
    this(ringBytes, chunkBytes, directBytes, directBytes);
  }

  /**
   * {@return the same, with kernels at host memory or not}
   *
   * @param save for saves
   * @param load for loads
   */
  public StagingOptions withStraight(boolean save, boolean load) {
    return new StagingOptions(ringBytes, chunkBytes, saveDirectBytes, loadDirectBytes, save, load);
  }

  /** {@return whether fragments of a length are moved by a kernel that reaches host memory} */
  boolean isStraight(StagedBatch.Direction direction, long fragmentBytes) {
    return !isDirect(direction, fragmentBytes)
        && (direction == StagedBatch.Direction.SAVE ? saveStraight : loadStraight);
  }

  /** {@return whether fragments of a length are copied alone} */
  boolean isDirect(StagedBatch.Direction direction, long fragmentBytes) {
    return fragmentBytes >= (direction == StagedBatch.Direction.SAVE ? saveDirectBytes : loadDirectBytes);
  }
}
