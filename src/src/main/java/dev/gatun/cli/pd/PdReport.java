package dev.gatun.cli.pd;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.cli.replay.LatencyHistogram;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How a run went. */
public final class PdReport {
  private final PdOptions options;
  private final LatencyHistogram handovers = new LatencyHistogram();
  private long pages;
  private long wrongPages;
  private final AtomicLong prompts = new AtomicLong();
  private long firstNanos;
  private long wallNanos;
  private @Nullable String failure;
  private Map<String, Object> survivor = Map.of();

  PdReport(PdOptions options) {
    this.options = options;
  }

  /** The hand-over before those that count: it connects the two sides and loads what they run. */
  void first(JsonFields taken) {
    wrongPages += taken.number("wrong").longValue();
    firstNanos = taken.number("nanos").longValue();
  }

  void handedOver(JsonFields taken) {
    pages += taken.number("pages").longValue();
    wrongPages += taken.number("wrong").longValue();
    prompts.incrementAndGet();
    handovers.record(taken.number("nanos").longValue());
  }

  long prompts() {
    return prompts.get();
  }

  void ran(long nanos) {
    wallNanos = nanos;
  }

  void failed(String how) {
    failure = how;
  }

  void survived(PdSide side, Map<?, ?> blocks) {
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("side", side.toString());
    blocks.forEach((name, value) -> state.put(String.valueOf(name), value));
    survivor = state;
  }

  /** {@return 0 if everything was handed over, and right} */
  public int exitCode() {
    return failure == null && wrongPages == 0 ? ExitCode.OK : ExitCode.FAILED;
  }

  /** {@return what is wrong; empty if nothing is} */
  public String complaint() {
    if (failure != null) return failure + "; " + prompts() + " of " + options.prompts() + " prompts were handed over";
    return wrongPages == 0 ? "" : wrongPages + " of " + pages + " pages were wrong";
  }

  /** {@return every figure by name} */
  public Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("engine", options.engine());
    map.put("pageBytes", options.pageBytes());
    map.put("promptPages", options.promptPages());
    map.put("prompts", prompts());
    map.put("pages", pages);
    map.put("wrongPages", wrongPages);
    map.put("bytes", pages * options.pageBytes());
    map.put("gbps", gigabits());
    map.put("handoverP50Ms", millis(0.5));
    map.put("handoverP99Ms", millis(0.99));
    map.put("firstHandoverMs", firstNanos / 1e6);
    map.put("wallMs", wallNanos / 1e6);
    if (failure != null) map.put("failure", failure);
    if (!survivor.isEmpty()) map.put("survivor", survivor);
    return map;
  }

  /** {@return the figures for people} */
  public String text() {
    return String.format(Locale.ROOT, """
        %s: %d pages of %d bytes in %d prompts, %d wrong
        %.2f Gbit/s while handing over; a prompt took %.2f ms at the median, %.2f ms at the 99th percentile
        """, options.engine(), pages, options.pageBytes(), prompts(), wrongPages, gigabits(), millis(0.5),
        millis(0.99));
  }

  /** Bits handed over in a nanosecond of hand-over, which is Gbit/s. */
  private double gigabits() {
    return handovers.sumNanos() == 0 ? 0 : pages * options.pageBytes() * 8.0 / handovers.sumNanos();
  }

  private double millis(double share) {
    return handovers.quantileNanos(share) / 1e6;
  }
}
