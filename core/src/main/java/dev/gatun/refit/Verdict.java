package dev.gatun.refit;

import dev.gatun.backend.StoreCensus.Reading;
import dev.gatun.backend.WeightEpoch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What an attempt proves.
 *
 * @param outcome the worst of all stores
 * @param reasons what keeps it from VERIFIED
 */
record Verdict(RefitOutcome outcome, List<String> reasons) {

  static Verdict failed(String reason) {
    return new Verdict(RefitOutcome.FAILED, List.of(reason));
  }

  /** Adds to each trace what its answers, and those of the others at the same master, leave open. */
  static void judge(List<StoreTrace> traces, WeightEpoch epoch) {
    Map<String, List<StoreTrace>> masters = traces.stream().filter(trace -> trace.port().hasCensus())
        .collect(Collectors.groupingBy(trace -> trace.port().master()));
    for (List<StoreTrace> sharing : masters.values())
      judgeMaster(sharing);
    for (StoreTrace trace : traces)
      judgeStore(trace, epoch);
  }

  /**
   * Draws the conclusion.
   *
   * @param traces what each store answered, judged
   * @param general doubts that concern every store, such as own calls still inside native code
   * @param raised whether the epoch was raised, so that keys of the old one differ
   */
  static Verdict of(List<StoreTrace> traces, List<String> general, boolean raised) {
    List<String> reasons = new ArrayList<>(general);
    boolean isolated = raised && !traces.isEmpty();
    boolean unremoved = false;
    for (StoreTrace trace : traces) {
      reasons.addAll(trace.unremoved());
      reasons.addAll(trace.unproven());
      boolean bare = !trace.port().epochInKey() || trace.epochUsedBefore();
      boolean doubted = !general.isEmpty() || !trace.unremoved().isEmpty() || !trace.unproven().isEmpty();
      if (bare && doubted) isolated = false;
      if (!raised || bare) unremoved |= !trace.unremoved().isEmpty();
    }
    if (reasons.isEmpty()) return new Verdict(RefitOutcome.VERIFIED, reasons);
    if (isolated) return new Verdict(RefitOutcome.ISOLATED, reasons);
    return new Verdict(unremoved ? RefitOutcome.FAILED : RefitOutcome.UNVERIFIED, reasons);
  }

  private static void judgeStore(StoreTrace trace, WeightEpoch epoch) {
    Canary last = trace.canaries().isEmpty() ? null : trace.canaries().getLast();
    if (last != null && !last.seen() && !last.noSpace()) {
      trace.unproven(last.planted()
          ? "the canary was put but not seen: " + Codes.text(last.size())
          : "the canary could not be put: " + Codes.text(last.code()));
    }
    if (last != null && last.noSpace() && !trace.port().hasCensus()) trace.unproven("no space for a canary");
    if (trace.epochUsedBefore()) {
      trace.unremoved(trace.ofNewEpoch + " objects carry epoch " + epoch + " already: it was used before");
    }
    Reading after = trace.after;
    if (after == null) return;
    if (after.keyCount() > 0) {
      trace.unremoved(after.keyCount() + " objects left, of which " + trace.listed.size() + " complete and listed");
    } else if (!trace.listed.isEmpty()) {
      trace.unremoved(trace.listed.size() + " objects are listed, though the master counts " + after.keyCount());
    } else if (after.keyCount() < 0) {
      trace.unproven("the master counts " + after.keyCount() + " objects");
    }
  }

  private static void judgeMaster(List<StoreTrace> sharing) {
    long ownMin = sharing.stream().mapToLong(StoreTrace::putStartsMin).sum();
    long ownMax = sharing.stream().mapToLong(StoreTrace::putStartsMax).sum();
    long seen = sharing.stream().flatMap(trace -> trace.canaries().stream()).filter(Canary::seen).count();
    long removed = sharing.stream().mapToLong(trace -> trace.removed).sum();
    for (StoreTrace trace : sharing) {
      Reading before = trace.before;
      Reading after = trace.after;
      if (before == null || after == null) continue;
      if (!sameMaster(before, after)) {
        trace.unproven("the master changed during the refit: " + identity(before) + " became " + identity(after));
        continue;
      }
      judgeCounters(trace, after.putStarts() - before.putStarts(), ownMin, ownMax);
    }
    if (removed < seen) {
      sharing.stream().filter(trace -> trace.canaryGone).forEach(trace -> trace.unproven(
          "the canary vanished and no removal of ours took it: lost with its memory, or removed by another client"));
    }
  }

  private static void judgeCounters(StoreTrace trace, long started, long ownMin, long ownMax) {
    trace.foreignPuts = Math.max(0, started - ownMax);
    if (started > ownMax) {
      trace.unproven(started - ownMax + " puts by other clients since the gate closed");
    } else if (started < Math.max(1, ownMin)) {
      trace.unproven("the census counted " + started + " puts where ours were at least " + Math.max(1, ownMin)
          + ": it watches another master, or lags");
    }
    Reading planted = trace.planted;
    if (planted != null && planted.keyCount() < 1) {
      trace.unproven("the census did not see the canary: it watches another master, or lags");
    }
  }

  static boolean sameMaster(Reading one, Reading other) {
    return one.role().equals(other.role()) && one.startId().equals(other.startId());
  }

  private static String identity(Reading reading) {
    return reading.role() + '/' + reading.startId();
  }
}
