package dev.gatun.cli.pd;

import dev.gatun.backend.EngineOptions;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.cli.replay.LatencyHistogram;
import dev.gatun.transfer.device.DevicePath;
import dev.gatun.transfer.device.PathChoice;
import java.util.LinkedHashMap;
import java.util.List;
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
  private @Nullable PathChoice path;
  private String gpus = "";
  private long refits;
  private long revoked;
  private long changed;

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

  void took(PathChoice choice, String prefillGpu, String decodeGpu) {
    path = choice;
    gpus = prefillGpu + ", " + decodeGpu;
  }

  /** Decode has refitted in the middle of a hand-over, which came to nothing, or was done before. */
  void refitted(boolean cameToNothing) {
    refits++;
    if (cameToNothing) revoked++;
  }

  /** Pages of blocks that were lent again after a refit, and changed. */
  void changedAfterLease(long pages) {
    changed = pages;
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
    return failure == null && wrongPages == 0 && changed == 0 ? ExitCode.OK : ExitCode.FAILED;
  }

  /** {@return what is wrong; empty if nothing is} */
  public String complaint() {
    if (failure != null) return failure + "; " + prompts() + " of " + options.prompts() + " prompts were handed over";
    if (wrongPages > 0) return wrongPages + " of " + pages + " pages were wrong";
    return changed == 0 ? "" : changed + " pages changed after their blocks were lent again";
  }

  /** {@return every figure by name} */
  public Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("engine", engine());
    options.device().ifPresent(device -> describe(device, map));
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

  /** {@return what moved the bytes; the same-host path is no engine} */
  private String engine() {
    PathChoice choice = path;
    if (choice == null || choice.path() == DevicePath.STAGED) return options.engine();
    return choice.path() == DevicePath.NIXL ? EngineOptions.NIXL : "none";
  }

  private void describe(PdDevice device, Map<String, Object> map) {
    PathChoice choice = path;
    map.put("device", device.kind());
    map.put("gpus", gpus);
    map.put("path", choice == null ? "" : choice.path().word());
    map.put("pathWhy", choice == null ? "" : choice.why());
    map.put("pathPassedOver", choice == null
        ? List.of()
        : choice.passedOver().stream()
            .map(refusal -> Map.of("path", refusal.path().word(), "cause", refusal.cause().name(), "detail",
                refusal.detail()))
            .toList());
    map.put("prefillRanks", device.prefillRanks());
    map.put("decodeRanks", device.decodeRanks());
    if (device.refitEvery() == 0) return;
    map.put("refits", refits);
    map.put("revokedPrompts", revoked);
    map.put("changedAfterLease", changed);
  }

  /** {@return the figures for people} */
  public String text() {
    return figures() + (path == null ? "" : "path " + path + '\n')
        + (refits == 0
            ? ""
            : String.format(Locale.ROOT,
                "%d refits during hand-overs, %d of which came to nothing; %d pages changed after their blocks were lent again%n",
                refits, revoked, changed));
  }

  private String figures() {
    return String.format(Locale.ROOT, """
        %s: %d pages of %d bytes in %d prompts, %d wrong
        %.2f Gbit/s while handing over; a prompt took %.2f ms at the median, %.2f ms at the 99th percentile
        """, options.device().map(device -> "device " + device.kind()).orElse(options.engine()), pages,
        options.pageBytes(), prompts(), wrongPages, gigabits(), millis(0.5),
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
