package dev.gatun.cli.replay;

/**
 * Times of calls in fixed buckets: 32 to each doubling, so a quantile is exact to 3 %. Recording allocates nothing. One
 * thread; merge copies when the work is done.
 */
public final class LatencyHistogram {
  private static final int SUB_BITS = 5;
  private static final int SUB = 1 << SUB_BITS;
  private static final int BUCKETS = (Long.SIZE - SUB_BITS) * SUB;

  private final long[] counts = new long[BUCKETS];
  private long count;
  private long sumNanos;

  /**
   * Counts a call.
   *
   * @param nanos how long it took
   */
  public void record(long nanos) {
    counts[bucket(nanos)]++;
    count++;
    sumNanos += nanos;
  }

  /** {@return calls recorded} */
  public long count() {
    return count;
  }

  /** {@return the time of all calls together} */
  public long sumNanos() {
    return sumNanos;
  }

  /**
   * {@return the time that the given share of calls did not exceed, in nanoseconds; 0 without calls}
   *
   * @param share 0 to 1
   */
  public long quantileNanos(double share) {
    long rank = Math.max(1, (long) Math.ceil(share * count));
    long seen = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      seen += counts[bucket];
      if (seen >= rank && seen > 0) return upperBound(bucket);
    }
    return 0;
  }

  void add(LatencyHistogram other) {
    for (int bucket = 0; bucket < BUCKETS; bucket++)
      counts[bucket] += other.counts[bucket];
    count += other.count;
    sumNanos += other.sumNanos;
  }

  /** {@return sum, then number and count of each bucket in use; read back by {@link #decode}} */
  long[] encode() {
    int used = 0;
    for (long bucketCount : counts)
      if (bucketCount != 0) used++;
    long[] encoded = new long[1 + 2 * used];
    encoded[0] = sumNanos;
    int at = 1;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      if (counts[bucket] == 0) continue;
      encoded[at++] = bucket;
      encoded[at++] = counts[bucket];
    }
    return encoded;
  }

  static LatencyHistogram decode(long[] encoded) {
    LatencyHistogram histogram = new LatencyHistogram();
    histogram.sumNanos = encoded[0];
    for (int at = 1; at < encoded.length; at += 2) {
      histogram.counts[(int) encoded[at]] = encoded[at + 1];
      histogram.count += encoded[at + 1];
    }
    return histogram;
  }

  private static int bucket(long nanos) {
    if (nanos < SUB) return (int) Math.max(0, nanos);
    int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - SUB_BITS;
    return shift * SUB + (int) (nanos >>> shift);
  }

  private static long upperBound(int bucket) {
    if (bucket < 2 * SUB) return bucket;
    int shift = bucket / SUB - 1;
    return ((long) (bucket % SUB + SUB + 1) << shift) - 1;
  }
}
