package dev.gatun.cli.replay;

import dev.gatun.cli.console.JsonFields;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one replica, or several together, did. Written by one thread; added up when that has stopped. */
final class ReplicaFigures {
  // enough to see a pattern, few enough to read
  private static final int FAILURES_MAX = 5;

  private final EnumMap<Figure, Long> counts = new EnumMap<>(Figure.class);
  private final List<String> failures = new ArrayList<>();
  final LatencyHistogram putTimes = new LatencyHistogram();
  final LatencyHistogram getTimes = new LatencyHistogram();
  final LatencyHistogram existsTimes = new LatencyHistogram();
  private String outage = "";
  private double putBytesPerNano;
  private double getBytesPerNano;

  void count(Figure figure, long amount) {
    counts.merge(figure, amount, Long::sum);
  }

  long get(Figure figure) {
    return counts.getOrDefault(figure, 0L);
  }

  /** Counts a failure and keeps its text if it is among the first. */
  void fail(String what) {
    count(Figure.FAILURES, 1);
    if (failures.size() < FAILURES_MAX) failures.add(what);
  }

  /** Says why it ended early. */
  void outage(String what) {
    outage = what;
  }

  /** {@return why it ended early, empty if it did not} */
  String outage() {
    return outage;
  }

  /** {@return the first failures, for the report} */
  List<String> failures() {
    return failures;
  }

  /** {@return bytes put for each nanosecond inside put calls, summed over replicas, which put side by side} */
  double putGBps() {
    return putBytesPerNano;
  }

  /** {@return bytes got for each nanosecond inside get calls, summed over replicas} */
  double getGBps() {
    return getBytesPerNano;
  }

  /** Works out the rates of this replica. */
  void finish() {
    putBytesPerNano = rate(get(Figure.PUT_BYTES), putTimes);
    getBytesPerNano = rate(get(Figure.HIT_BYTES), getTimes);
  }

  private static double rate(long bytes, LatencyHistogram times) {
    return times.sumNanos() == 0 ? 0 : (double) bytes / times.sumNanos();
  }

  void add(ReplicaFigures other) {
    other.counts.forEach(this::count);
    for (String failure : other.failures)
      if (failures.size() < FAILURES_MAX) failures.add(failure);
    if (outage.isEmpty()) outage = other.outage;
    putTimes.add(other.putTimes);
    getTimes.add(other.getTimes);
    existsTimes.add(other.existsTimes);
    putBytesPerNano += other.putBytesPerNano;
    getBytesPerNano += other.getBytesPerNano;
  }

  /** {@return all of it, as a JSON writer wants it; read back by {@link #decode}} */
  Map<String, Object> encode() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("counts", counts);
    map.put("failures", failures);
    map.put("outage", outage);
    map.put("putTimes", putTimes.encode());
    map.put("getTimes", getTimes.encode());
    map.put("existsTimes", existsTimes.encode());
    return map;
  }

  static ReplicaFigures decode(JsonFields fields) {
    ReplicaFigures figures = new ReplicaFigures();
    JsonFields counts = fields.object("counts");
    for (Figure figure : Figure.values()) {
      if (counts.has(figure.name())) figures.count(figure, counts.number(figure.name()).longValue());
    }
    figures.failures.addAll(fields.texts("failures"));
    figures.outage(fields.text("outage"));
    figures.putTimes.add(LatencyHistogram.decode(fields.longs("putTimes")));
    figures.getTimes.add(LatencyHistogram.decode(fields.longs("getTimes")));
    figures.existsTimes.add(LatencyHistogram.decode(fields.longs("existsTimes")));
    figures.finish();
    return figures;
  }
}
