package dev.gatun.refit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a reset of a part of a master did and proved. Immutable. {@link #text} is for people, {@link #map} for JSON.
 *
 * @param scope what was to be removed
 * @param outcome the verdict
 * @param reasons why it is not VERIFIED; empty if it is
 * @param removed objects that the removals reported, the canary included
 * @param passes removals sent
 * @param others keys listed at the end that were not to be removed, -1 if none were listed
 * @param leftovers keys that should be gone and were listed at the end, as many as the policy asks for
 * @param nanos from the call to the verdict
 */
public record NamespaceReport(String scope, RefitOutcome outcome, List<String> reasons, long removed, int passes,
    long others, List<String> leftovers, long nanos) {

  /** Makes the lists immutable. */
  public NamespaceReport {
    reasons = List.copyOf(reasons);
    leftovers = List.copyOf(leftovers);
  }

  /** {@return a few lines for people, each ending in a newline} */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append("reset of ").append(scope).append(": ").append(outcome).append('\n');
    text.append(String.format(Locale.ROOT, "  %d removed in %d passes, %s, %.2f ms%n", removed, passes,
        others < 0 ? "others not listed" : others + " of others stay", nanos / 1e6));
    for (String key : leftovers)
      text.append("  left: ").append(key).append('\n');
    for (String reason : reasons)
      text.append("  not verified: ").append(reason).append('\n');
    return text.toString();
  }

  /** {@return strings, numbers and lists in a fixed order, as a JSON writer wants them} */
  public Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("scope", scope);
    map.put("outcome", outcome.name());
    map.put("reasons", reasons);
    map.put("removed", removed);
    map.put("passes", passes);
    map.put("others", others);
    map.put("leftovers", leftovers);
    map.put("nanos", nanos);
    return map;
  }
}
