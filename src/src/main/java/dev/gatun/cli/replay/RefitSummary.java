package dev.gatun.cli.replay;

import dev.gatun.cli.console.JsonFields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one replica says about a refit.
 *
 * @param outcome VERIFIED, ISOLATED, UNVERIFIED or FAILED; UNPROVEN where the proof is switched off
 * @param open whether the replica's gate is open again
 * @param removed objects removed by it and not reported by another replica, canaries included
 * @param canaries canaries that it put
 * @param nanos from closing the gate to the verdict
 * @param reasons why the outcome is not VERIFIED
 */
record RefitSummary(String outcome, boolean open, long removed, long canaries, long nanos, List<String> reasons) {

  Map<String, Object> encode() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("outcome", outcome);
    map.put("open", open);
    map.put("removed", removed);
    map.put("canaries", canaries);
    map.put("nanos", nanos);
    map.put("reasons", reasons);
    return map;
  }

  static RefitSummary decode(JsonFields fields) {
    return new RefitSummary(fields.text("outcome"), fields.flag("open"), fields.number("removed").longValue(),
        fields.number("canaries").longValue(), fields.number("nanos").longValue(), fields.texts("reasons"));
  }
}
