package dev.gatun.cli.replay;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {

  @Test
  @DisplayName("quantiles are exact to 3 % against the sorted samples, from one nanosecond to hours")
  void quantilesMatchSortedSamples() {
    SplittableRandom random = new SplittableRandom(5);
    long[] samples = random.longs(20_000).map(bits -> (bits & Long.MAX_VALUE) >>> (20 + (bits & 31))).toArray();
    LatencyHistogram histogram = new LatencyHistogram();
    for (long sample : samples)
      histogram.record(sample);
    Arrays.sort(samples);
    for (double share : new double[]{0.001, 0.25, 0.5, 0.9, 0.99, 1}) {
      long exact = samples[Math.max(0, (int) Math.ceil(share * samples.length) - 1)];
      long found = histogram.quantileNanos(share);
      assertTrue(found >= exact && found <= exact + exact / 31 + 1, share + ": " + exact + " found " + found);
    }
    assertEquals(samples.length, histogram.count());
  }

  @Test
  @DisplayName("the longest and the shortest time have a bucket; no sample gives 0")
  void coversAllTimes() {
    LatencyHistogram histogram = new LatencyHistogram();
    assertEquals(0, histogram.quantileNanos(0.5));
    histogram.record(0);
    assertEquals(0, histogram.quantileNanos(0.5));
    histogram.record(Long.MAX_VALUE);
    assertEquals(Long.MAX_VALUE, histogram.quantileNanos(1));
  }

  @Test
  @DisplayName("encoded histograms come back the same and add up")
  void encodesAndAdds() {
    LatencyHistogram left = new LatencyHistogram();
    LatencyHistogram right = new LatencyHistogram();
    for (long nanos = 1; nanos < 1_000_000; nanos = nanos * 3 + 1)
      left.record(nanos);
    right.record(77);
    LatencyHistogram sum = LatencyHistogram.decode(left.encode());
    assertArrayEquals(left.encode(), sum.encode());
    sum.add(right);
    assertEquals(left.count() + 1, sum.count());
    assertEquals(left.sumNanos() + 77, sum.sumNanos());
  }
}
