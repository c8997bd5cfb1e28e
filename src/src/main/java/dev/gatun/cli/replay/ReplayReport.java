package dev.gatun.cli.replay;

import dev.gatun.backend.ByteSize;
import dev.gatun.cli.console.ExitCode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * How a replay went, beside what one replica with room for everything would have done.
 *
 * @param options what was asked for
 * @param trace what was replayed
 * @param ideal the yardstick
 * @param capacity the store's memory
 * @param figures what all replicas did
 * @param refits what the refits did
 * @param wallNanos time from the first request to the last
 */
public record ReplayReport(ReplayOptions options, Trace trace, IdealCache ideal, CapacityPlan capacity,
    ReplicaFigures figures, RefitTally refits, long wallNanos) {

  /** {@return the exit code that the run deserves} */
  public int exitCode() {
    boolean bad = get(Figure.STALE_PAGES) + get(Figure.WRONG_PAGES) + get(Figure.REJECTED_PAGES)
        + get(Figure.FAILURES) > 0 || !figures.outage().isEmpty();
    if (bad || !refits.refused().isEmpty()) return ExitCode.FAILED;
    return refits.allVerified() ? ExitCode.OK : ExitCode.UNPROVEN;
  }

  /** {@return why the run did not end well, one sentence; empty if it did} */
  public String complaint() {
    if (get(Figure.STALE_PAGES) > 0) return get(Figure.STALE_PAGES) + " stale pages were served";
    if (get(Figure.WRONG_PAGES) > 0) return get(Figure.WRONG_PAGES) + " wrong pages were served";
    if (!refits.refused().isEmpty()) return refits.refused() + ": " + String.join("; ", refits.reasons());
    if (get(Figure.REJECTED_PAGES) > 0) {
      return get(Figure.REJECTED_PAGES) + " pages were given away by their stamp, none of them served";
    }
    if (!figures.outage().isEmpty()) {
      return figures.outage() + "; ended early, after " + get(Figure.REQUESTS) + " of " + trace.requests()
          + " requests";
    }
    if (get(Figure.FAILURES) > 0) return get(Figure.FAILURES) + " operations failed: " + figures.failures().getFirst();
    return refits.allVerified() ? "" : "a refit could not be verified: " + String.join("; ", refits.reasons());
  }

  /** {@return the report as a JSON writer wants it} */
  public Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("requests", get(Figure.REQUESTS));
    map.put("blocks", get(Figure.BLOCKS));
    map.put("hits", get(Figure.HITS));
    map.put("puts", get(Figure.PUTS));
    map.put("resets", refits.count());
    map.put("removedPages", refits.removedPages());
    map.put("stalePages", get(Figure.STALE_PAGES));
    map.put("wrongPages", get(Figure.WRONG_PAGES));
    map.put("rejectedPages", get(Figure.REJECTED_PAGES));
    map.put("lostHits", get(Figure.LOST_HITS));
    map.put("refusedPuts", get(Figure.REFUSED_PUTS));
    map.put("failures", get(Figure.FAILURES));
    map.put("outage", figures.outage());
    map.put("putBytes", get(Figure.PUT_BYTES));
    map.put("getBytes", get(Figure.HIT_BYTES));
    map.put("putGBps", figures.putGBps());
    map.put("getGBps", figures.getGBps());
    map.put("overallGBps", overallGBps());
    map.put("seconds", wallNanos / 1e9);
    map.put("putMicros", quantiles(figures.putTimes));
    map.put("getMicros", quantiles(figures.getTimes));
    map.put("existsMicros", quantiles(figures.existsTimes));
    map.put("refitMicros", quantiles(refits.times()));
    map.put("refitOutcomes", refits.outcomes());
    map.put("refitReasons", refits.reasons());
    map.put("ideal", idealMap());
    map.put("settings", settings());
    map.put("complaint", complaint());
    map.put("exitCode", exitCode());
    return map;
  }

  private Map<String, Object> idealMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("hits", ideal.hits());
    map.put("puts", ideal.puts());
    map.put("resets", ideal.resets());
    map.put("removedPages", ideal.removedPages());
    map.put("peakPages", ideal.peakPages());
    return map;
  }

  private Map<String, Object> settings() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("store", options.storeName());
    map.put("trace", trace.source());
    map.put("distinctBlocks", trace.distinctBlocks());
    map.put("traceMillis", trace.durationMillis());
    map.put("pageBytes", options.pageBytes());
    map.put("batchPages", options.batchPages());
    map.put("replicas", options.replicas());
    map.put("speed", options.speed().toString());
    map.put("refitEveryMillis", options.refitEveryMillis());
    map.put("epochInKey", options.epochInKey());
    map.put("verify", options.verify().name());
    map.put("proof", options.proof());
    map.put("fault", options.fault().word());
    map.put("device", options.device().word());
    map.put("capacityBytes", capacity.bytes());
    map.put("capacityEnough", capacity.enough());
    return map;
  }

  private static Map<String, Object> quantiles(LatencyHistogram times) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("calls", times.count());
    map.put("p50", times.quantileNanos(0.5) / 1e3);
    map.put("p99", times.quantileNanos(0.99) / 1e3);
    return map;
  }

  /** {@return the report as a table for people} */
  public String text() {
    ReportTable table = new ReportTable();
    table.head("measured", "ideal");
    table.row("requests", get(Figure.REQUESTS), trace.requests());
    table.row("blocks", get(Figure.BLOCKS), trace.blocks());
    table.row("hits", get(Figure.HITS), ideal.hits());
    table.row("puts", get(Figure.PUTS), ideal.puts());
    table.row("resets", refits.count(), ideal.resets());
    table.row("pages removed", refits.removedPages(), ideal.removedPages());
    table.rowIfAny("hits lost before they were got", get(Figure.LOST_HITS));
    table.rowIfAny("puts refused, no room", get(Figure.REFUSED_PUTS));
    table.rowIfAny("failures", get(Figure.FAILURES));
    table.row("pages rejected by their stamp", get(Figure.REJECTED_PAGES), 0);
    table.row("stale pages served", get(Figure.STALE_PAGES), 0);
    table.row("wrong pages served", get(Figure.WRONG_PAGES), 0);
    table.gap();
    table.rates("put", get(Figure.PUT_BYTES), figures.putGBps(), figures.putTimes);
    table.rates("get", get(Figure.HIT_BYTES), figures.getGBps(), figures.getTimes);
    table.rates("exists", 0, 0, figures.existsTimes);
    table.note("overall",
        String.format(Locale.ROOT, "%.2f GB/s in %.2f s, pages computed and checked meanwhile", overallGBps(),
            wallNanos / 1e9));
    if (refits.count() > 0) table.note("refits", refits.outcomes() + ", " + ReportTable.times(refits.times()));
    if (!figures.outage().isEmpty()) table.note("ended early", figures.outage());
    for (String failure : figures.failures())
      table.note("failure", failure);
    return table.toString();
  }

  /** {@return what is about to be done, a few lines for people} */
  static String plan(ReplayOptions options, Trace trace, CapacityPlan capacity) {
    StringBuilder text = new StringBuilder();
    text.append(String.format(Locale.ROOT, "%s: %,d requests, %,d blocks, %,d distinct, %,d s%n", trace.source(),
        trace.requests(),
        trace.blocks(), trace.distinctBlocks(), trace.durationMillis() / 1000));
    text.append(String.format(Locale.ROOT, "%s store, %d %s, pages of %,d bytes, epoch in keys: %s, refit %s%n",
        options.storeName(),
        options.replicas(), options.replicas() == 1 ? "replica" : "replicas", options.pageBytes(),
        options.epochInKey() ? "yes" : "no",
        options.refitEveryMillis() == 0 ? "never" : "every " + options.refitEveryMillis() + " ms of trace time"));
    if (!capacity.enough()) {
      text.append(String.format(Locale.ROOT, "capacity %s is not enough for all pages: the store will evict%n",
          ByteSize.format(capacity.bytes())));
    }
    if (trace.contradictions() > 0) {
      text.append(String.format(Locale.ROOT,
          "%,d times a block stands after another one than at first; its content follows the first%n",
          trace.contradictions()));
    }
    return text.toString();
  }

  private long get(Figure figure) {
    return figures.get(figure);
  }

  private double overallGBps() {
    return wallNanos == 0 ? 0 : (double) (get(Figure.PUT_BYTES) + get(Figure.HIT_BYTES)) / wallNanos;
  }
}
