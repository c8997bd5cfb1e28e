package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitReport;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What came of the refits of one run. */
final class TrafficTally {
  private static final double VERIFIED_SHARE_MIN = 0.99;

  private final Map<RefitOutcome, Integer> outcomes = new EnumMap<>(RefitOutcome.class);
  private final Map<RefitOutcome, Integer> quiesced = new EnumMap<>(RefitOutcome.class);
  private final Map<String, Integer> reasons = new TreeMap<>();
  private final List<Double> millis = new ArrayList<>();
  private final ObjectNode traffic = JsonNodeFactory.instance.objectNode();
  private int verifiedThenOlder;
  private int olderAfterUnproven;
  private long stale;

  /** A refit whose foreign writer was stopped, before it began or while it ran; and whether older pages were readable. */
  void stopped(boolean before, RefitReport report, boolean older) {
    if (before) quiesced.merge(report.outcome(), 1, Integer::sum);
    straggled(report, older);
  }

  /** A refit, and whether older pages were readable in the epoch after it. */
  void straggled(RefitReport report, boolean older) {
    outcomes.merge(report.outcome(), 1, Integer::sum);
    report.reasons().forEach(reason -> reasons.merge(reason.replaceAll("\\d+", "N"), 1, Integer::sum));
    millis.add(report.nanos() / 1e6);
    if (!older) return;
    if (report.outcome() == RefitOutcome.VERIFIED) verifiedThenOlder++;
    else
      olderAfterUnproven++;
  }

  /** Older pages were readable while the gates were closed after a refit that was not proven. */
  void olderAfterUnproven() {
    olderAfterUnproven++;
  }

  void traffic(long puts, long hits, long stalePages, long refusedBatches, long foreignPuts, long oraclePages) {
    stale = stalePages;
    traffic.put("puts", puts).put("hits", hits).put("stalePages", stalePages).put("refusedBatches", refusedBatches)
        .put("foreignPuts", foreignPuts).put("oraclePages", oraclePages);
  }

  /** {@return whether no old page was served or left readable by a proven refit, and the quiet ones were proven} */
  boolean good() {
    return stale == 0 && verifiedThenOlder == 0 && quiescedShare() >= VERIFIED_SHARE_MIN;
  }

  private double quiescedShare() {
    int all = quiesced.values().stream().mapToInt(Integer::intValue).sum();
    return all == 0 ? 1 : (double) quiesced.getOrDefault(RefitOutcome.VERIFIED, 0) / all;
  }

  int olderReadable() {
    return olderAfterUnproven;
  }

  int verified() {
    return outcomes.getOrDefault(RefitOutcome.VERIFIED, 0);
  }

  ObjectNode json() {
    double[] times = millis.stream().mapToDouble(Double::doubleValue).toArray();
    ObjectNode node = JsonNodeFactory.instance.objectNode().put("refits", times.length);
    ObjectNode all = node.putObject("outcomes");
    outcomes.forEach((outcome, count) -> all.put(outcome.name(), count));
    if (!quiesced.isEmpty()) {
      ObjectNode before = node.putObject("quiescedBefore");
      quiesced.forEach((outcome, count) -> before.put(outcome.name(), count));
      before.put("verifiedShare", quiescedShare()).put("verifiedShareMin", VERIFIED_SHARE_MIN);
    }
    node.put("verifiedThenOlderReadable", verifiedThenOlder).put("unprovenAndOlderReadable", olderAfterUnproven);
    node.setAll(traffic);
    node.put("refitMillisMedian", Quantiles.median(times)).put("refitMillisP99", Quantiles.of(times, 0.99));
    ObjectNode why = node.putObject("reasons");
    reasons.forEach(why::put);
    return node;
  }
}
