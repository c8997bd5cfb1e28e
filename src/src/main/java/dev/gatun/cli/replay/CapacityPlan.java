package dev.gatun.cli.replay;

import dev.gatun.backend.ByteSize;
import dev.gatun.backend.StoreOptions;

/**
 * How much memory the store gets, and how it is divided: each replica contributes one segment.
 *
 * @param segmentBytes of each replica
 * @param segments one a replica
 * @param enough whether everything fits below the eviction watermark
 */
public record CapacityPlan(long segmentBytes, int segments, boolean enough) {
  // Eviction starts at 90 % of the memory; 75 % leaves room for pages of one object that miss a full segment.
  private static final double FILL = 0.75;
  // the rest is for the JVMs, their pools and everybody else; unmeasured default
  private static final double OF_AVAILABLE = 0.7;

  /** {@return memory of the whole store} */
  public long bytes() {
    return segmentBytes * segments;
  }

  /**
   * Plans a store in which everything stays, or as much as the machine allows.
   *
   * @param peakPages most pages at once
   * @param pageBytes bytes a page, stamp included
   * @param segments one a replica
   * @return the plan
   * @throws IllegalArgumentException if the machine cannot hold even the smallest store
   */
  static CapacityPlan forAll(long peakPages, long pageBytes, int segments) {
    long wanted = neededBytes(peakPages, pageBytes);
    long allowed = (long) (MachineMemory.availableBytes() * OF_AVAILABLE);
    if (allowed < StoreOptions.SEGMENT_BYTES_MIN * segments) {
      throw new IllegalArgumentException("this machine has no memory for a store: " + ByteSize.format(allowed));
    }
    return divide(Math.min(wanted, allowed), segments, wanted <= allowed);
  }

  /** {@return the plan for a capacity that the user chose} */
  static CapacityPlan given(long bytes, long peakPages, long pageBytes, int segments) {
    if (bytes < StoreOptions.SEGMENT_BYTES_MIN * segments) {
      throw new IllegalArgumentException(
          "--capacity must be at least " + ByteSize.format(StoreOptions.SEGMENT_BYTES_MIN)
              + " for each of " + segments + " replicas: " + ByteSize.format(bytes));
    }
    CapacityPlan plan = divide(bytes, segments, bytes >= neededBytes(peakPages, pageBytes));
    if (plan.segmentBytes < pageBytes) {
      throw new IllegalArgumentException("--capacity gives each of " + segments + " replicas "
          + ByteSize.format(plan.segmentBytes) + ", less than a page: " + pageBytes);
    }
    return plan;
  }

  private static long neededBytes(long peakPages, long pageBytes) {
    double pages = (double) peakPages * roundUp(pageBytes, 64) / FILL;
    return (long) Math.min(1L << 60, pages) + StoreOptions.SEGMENT_BYTES_MIN;
  }

  private static CapacityPlan divide(long bytes, int segments, boolean enough) {
    // A segment must also hold the largest page, however few there are.
    long each = Math.max(StoreOptions.SEGMENT_BYTES_MIN, roundUp(bytes / segments, 4096));
    return new CapacityPlan(each, segments, enough);
  }

  private static long roundUp(long bytes, long step) {
    return (bytes + step - 1) / step * step;
  }
}
