package dev.gatun.fleet;

import dev.gatun.fleet.FleetReport.Engine;
import dev.gatun.fleet.FleetReport.Step;
import dev.gatun.refit.RefitReport;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The two forms in which a {@link FleetReport} leaves Gatun. */
final class FleetText {
  private FleetText() {}

  static String of(FleetReport report) {
    StringBuilder text = new StringBuilder();
    text.append("fleet ").append(report.path().word()).append(" to ").append(report.epoch()).append(": ")
        .append(report.outcome()).append('\n');
    text.append("  ").append(report.engines().size()).append(" engines, ").append(report.attempts())
        .append(" attempts, ").append(millis(report.nanos()));
    if (!report.phases().isEmpty()) {
      text.append(" (").append(report.phases().stream().map(phase -> phase.name() + ' ' + millis(phase.nanos()))
          .collect(Collectors.joining(", "))).append(')');
    }
    text.append('\n');
    report.engines().forEach(engine -> engine(text, engine));
    report.store().map(RefitReport::text).ifPresent(store -> text.append(store.indent(2)));
    if (!report.sentinel().isEmpty()) line(text, "  sentinel: ", report.sentinel());
    report.reasons().forEach(reason -> line(text, "  not verified: ", reason));
    report.notes().forEach(note -> line(text, "  note: ", note));
    if (!report.paused().isEmpty()) line(text, "  paused: ", String.join(", ", report.paused()));
    if (!report.mayBePaused().isEmpty()) line(text, "  may be paused: ", String.join(", ", report.mayBePaused()));
    return text.toString();
  }

  private static void engine(StringBuilder text, Engine engine) {
    line(text, "  ", engine.engine().url() + " " + lower(engine.engine().kind()) + ' ' + engine.version() + ' '
        + lower(engine.engine().mode()) + ", " + engine.sequence());
    for (Step step : engine.steps()) {
      line(text, "    ", step.phase() + ": " + step.request() + " -> "
          + step.result().name().toLowerCase(Locale.ROOT).replace('_', ' ') + ", " + millis(step.nanos())
          + (step.detail().isEmpty() ? "" : ": " + step.detail()));
    }
    if (!engine.contradiction().isEmpty()) line(text, "    contradicted: ", engine.contradiction());
  }

  static Map<String, Object> map(FleetReport report) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("outcome", report.outcome().name());
    map.put("run", report.epoch().run());
    map.put("weightVersion", report.epoch().version());
    map.put("path", report.path().word());
    map.put("attempts", report.attempts());
    map.put("nanos", report.nanos());
    map.put("reasons", report.reasons());
    map.put("notes", report.notes());
    map.put("paused", report.paused());
    map.put("mayBePaused", report.mayBePaused());
    map.put("phases", report.phases().stream().map(phase -> ordered("name", phase.name(), "nanos", phase.nanos()))
        .toList());
    map.put("engines", report.engines().stream().map(FleetText::map).toList());
    report.store().ifPresent(store -> map.put("store", store.map()));
    map.put("sentinel", report.sentinel());
    return map;
  }

  private static Map<String, Object> map(Engine engine) {
    FleetEngine configured = engine.engine();
    return ordered("url", configured.url().toString(), "kind", lower(configured.kind()), "mode",
        lower(configured.mode()), "rank", configured.rank(), "version", engine.version(), "sequence",
        engine.sequence(), "paused", engine.paused(), "mayBePaused", engine.mayBePaused(), "steps",
        engine.steps().stream().map(step -> ordered("phase", step.phase(), "request", step.request(), "result",
            step.result().name(), "nanos", step.nanos(), "detail", step.detail())).toList(),
        "problem", engine.problem(), "contradiction", engine.contradiction());
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static String millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
  }

  private static void line(StringBuilder text, String before, String line) {
    text.append(before).append(line).append('\n');
  }

  private static Map<String, Object> ordered(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2)
      map.put((String) pairs[i], pairs[i + 1]);
    return map;
  }
}
