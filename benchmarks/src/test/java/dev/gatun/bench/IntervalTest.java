package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class IntervalTest {
  @Test
  @DisplayName("three launches: Student's t with two degrees of freedom")
  void differences() {
    Interval interval = Interval.ofDifferences(List.of(1.0, 2.0, 3.0));
    assertEquals(2, interval.mean(), 1e-9);
    assertEquals(2 - 4.303 / Math.sqrt(3), interval.low(), 1e-9);
    assertEquals(2 + 4.303 / Math.sqrt(3), interval.high(), 1e-9);
  }

  @Test
  @DisplayName("ratios are averaged as logarithms: a half and a double cancel out")
  void ratios() {
    Interval interval = Interval.ofRatios(List.of(0.5, 2.0));
    assertEquals(1, interval.mean(), 1e-9);
    assertEquals(1, interval.low() * interval.high(), 1e-9);
  }

  @Test
  @DisplayName("one launch says nothing about the spread")
  void oneLaunch() {
    assertEquals(new Interval(7, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY),
        Interval.ofDifferences(List.of(7.0)));
    assertEquals(0, Interval.ofRatios(List.of(7.0)).low());
  }

  @Test
  @DisplayName("equal launches have an interval of no width, however many they are")
  void many() {
    Interval interval = Interval.ofDifferences(Collections.nCopies(50, 3.0));
    assertEquals(new Interval(3, 3, 3), interval);
  }

  @Test
  @DisplayName("medians: one round far off moves neither the difference nor its interval by much, as it does means")
  void medians() {
    double[] way = {3, 3.1, 2.9, 3, 3.1, 2.9, 3, 3.1, 2.9, 90};
    double[] other = {1, 1.1, 0.9, 1, 1.1, 0.9, 1, 1.1, 0.9, 1};
    Interval interval = Interval.ofMedianDifference(way, other);
    assertEquals(2, interval.mean(), 1e-9);
    assertTrue(interval.low() >= 1.8 && interval.low() <= 2 && interval.high() >= 2 && interval.high() <= 2.2,
        interval::toString);
    assertEquals(interval, Interval.ofMedianDifference(way, other), "the same figures, the same interval");
    assertThrows(IllegalArgumentException.class, () -> Interval.ofMedianDifference(way, new double[]{1}));
    assertThrows(IllegalArgumentException.class, () -> Interval.ofMedianDifference(new double[0], new double[0]));
  }

  @Test
  @DisplayName("no launch, no interval")
  void none() {
    assertThrows(IllegalArgumentException.class, () -> Interval.ofDifferences(List.of()));
  }
}
