package dev.gatun.refit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The two forms in which a {@link RefitReport} leaves Gatun. */
final class RefitText {
  private RefitText() {}

  static String of(RefitReport report) {
    StringBuilder text = new StringBuilder();
    line(text, "refit " + report.previous() + " -> " + report.epoch() + ": " + report.outcome());
    line(text,
        "  " + count(report.removed(), "object") + " removed, " + count(report.replicas().size(), "replica") + ", "
            + count(report.attempts(), "attempt") + ", " + millis(report.nanos()) + ", reset " + report.resets()
            + " of this process");
    rows(text, report.steps().stream().map(step -> List.of(step.name(), millis(step.nanos()), step.detail())).toList());
    rows(text, report.stores().stream().map(RefitText::storeRow).toList());
    for (RefitReport.Store store : report.stores()) {
      for (String key : store.leftovers())
        line(text, "  left in " + store.name() + ": " + key);
    }
    rows(text, report.replicas().stream().map(replica -> List.of(replica.name(),
        "gate " + replica.gate().name().toLowerCase(Locale.ROOT),
        replica.left().isEmpty() ? "" : "left: " + replica.left())).toList());
    for (String reason : report.reasons())
      line(text, "  not verified: " + reason);
    for (String note : report.notes())
      line(text, "  note: " + note);
    return text.toString();
  }

  static Map<String, Object> map(RefitReport report) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("run", report.epoch().run());
    map.put("version", report.epoch().version());
    map.put("previous", report.previous().toString());
    map.put("outcome", report.outcome().name());
    map.put("accepted", report.accepted());
    map.put("open", report.open());
    map.put("reasons", report.reasons());
    map.put("notes", report.notes());
    map.put("attempts", report.attempts());
    map.put("removed", report.removed());
    map.put("resets", report.resets());
    map.put("removedTotal", report.removedTotal());
    map.put("nanos", report.nanos());
    map.put("steps", report.steps().stream().map(step -> ordered("name", step.name(), "nanos", step.nanos(),
        "detail", step.detail())).toList());
    map.put("replicas", report.replicas().stream().map(replica -> ordered("name", replica.name(),
        "gate", replica.gate().name(), "left", replica.left())).toList());
    map.put("stores", report.stores().stream().map(store -> ordered("replica", store.replica(), "name", store.name(),
        "census", store.census(), "passes", store.passes(), "removed", store.removed(), "canary", store.canary(),
        "keyCount", store.keyCount(), "foreignPuts", store.foreignPuts(), "leftovers", store.leftovers())).toList());
    return map;
  }

  private static List<String> storeRow(RefitReport.Store store) {
    return List.of(store.replica(), store.name(), count(store.removed(), "object") + " in "
        + count(store.passes(), "pass"), "canary " + store.canary(),
        store.keyCount() < 0 ? "keys unknown" : count(store.keyCount(), "key") + " left",
        store.foreignPuts() < 0 ? "other puts unknown" : count(store.foreignPuts(), "other put"));
  }

  /** Rows of cells, each column as wide as its widest cell. */
  private static void rows(StringBuilder text, List<List<String>> rows) {
    List<Integer> widths = new ArrayList<>();
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        if (i == widths.size()) widths.add(0);
        widths.set(i, Math.max(widths.get(i), row.get(i).length()));
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++)
        line.append("  ").append(pad(row.get(i), widths.get(i)));
      text.append(line.toString().stripTrailing()).append('\n');
    }
  }

  private static String pad(String cell, int width) {
    return cell + " ".repeat(width - cell.length());
  }

  private static void line(StringBuilder text, String line) {
    text.append(line).append('\n');
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
  }

  private static String count(long number, String noun) {
    if (number == 1) return "1 " + noun;
    return number + " " + noun + (noun.endsWith("s") ? "es" : "s");
  }

  private static Map<String, Object> ordered(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2)
      map.put((String) pairs[i], pairs[i + 1]);
    return map;
  }
}
