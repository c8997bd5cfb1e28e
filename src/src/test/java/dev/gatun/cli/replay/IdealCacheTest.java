package dev.gatun.cli.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class IdealCacheTest {

  @Test
  @DisplayName("hits are longest prefixes; a reset at each multiple of trace time drops every page")
  void worksOutHitsAndResets() {
    Trace trace = trace(new long[]{50, 60, 149, 150, 420}, new long[][]{{1, 2, 3}, {1, 2, 4}, {1}, {1, 2}, {1, 2, 3}});
    assertEquals(new IdealCache(2 + 1 + 2 + 3, 4, 0, 0, 4), IdealCache.of(trace, 0));
    // boundaries at 100, 200, 300, 400: requests of steps 0 | 1 (149 and 150) | 4
    assertEquals(new IdealCache(2 + 1, 4 + 2 + 3, 4, 4 + 2, 4), IdealCache.of(trace, 100));
  }

  @Test
  @DisplayName("steps are counted from the first request, so a trace in clock time has no resets before it")
  void countsStepsFromTheFirstRequest() {
    Trace trace = trace(new long[]{1_700_000_000_050L, 1_700_000_000_150L}, new long[][]{{1}, {1}});
    assertEquals(new IdealCache(0, 2, 1, 1, 1), IdealCache.of(trace, 100));
  }

  @Test
  @DisplayName("the built-in trace is the same for the same seed, and shares prefixes")
  void generatesTheSameTrace() {
    Trace trace = TraceGenerator.generate(1000, 7);
    IdealCache ideal = IdealCache.of(trace, 600_000);
    assertEquals(ideal, IdealCache.of(TraceGenerator.generate(1000, 7), 600_000));
    assertEquals(1000, trace.requests());
    assertEquals(0, trace.contradictions());
    assertEquals(5, ideal.resets());
    assertEquals(trace.blocks(), ideal.hits() + ideal.puts());
    assertEquals(0.4, (double) IdealCache.of(trace, 0).hits() / trace.blocks(), 0.2);
  }

  static Trace trace(long[] timestamps, long[][] chains) {
    Trace.Builder builder = new Trace.Builder("test");
    for (int i = 0; i < chains.length; i++)
      builder.add(timestamps[i], chains[i], chains[i].length);
    return builder.build();
  }
}
