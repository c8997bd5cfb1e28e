package dev.gatun.cli.pd;

import dev.gatun.backend.Deadline;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.cli.console.Progress;
import dev.gatun.cli.replay.RunLogs;
import dev.gatun.nativelib.Leftovers;
import dev.gatun.nativelib.MooncakeRuntime;
import dev.gatun.transfer.device.DevicePath;
import dev.gatun.transfer.device.PathChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The whole of a run: starts both sides and stands between them as a router does. */
public final class PdRun {
  // 30 s: an offer that nobody asks for ends after 10 s, room of a dead sender is free after 2 s
  private static final Duration REST_MAX = Duration.ofSeconds(30);
  private static final long REST_LOOK_NANOS = 50_000_000;

  private final PdOptions options;
  private final PdReport report;
  private final PdChild prefill;
  private final PdChild decode;
  private Map<String, Object> remote = Map.of();

  private PdRun(PdOptions options, PdReport report, PdChild prefill, PdChild decode) {
    this.options = options;
    this.report = report;
    this.prefill = prefill;
    this.decode = decode;
  }

  /**
   * Hands all pages over. Blocks until it is done; shows its progress on standard error.
   *
   * @param options what to do
   * @param json whether standard output will carry JSON
   * @param nativeLog where the processes log, null for temporary files
   * @return how it went, also if one side was killed
   * @throws CommandException if a side cannot do what it is asked, or what it needs is not installed
   */
  public static PdReport run(PdOptions options, boolean json, @Nullable Path nativeLog) {
    if (options.engine().equals("mooncake") && MooncakeRuntime.installed().isEmpty()) {
      throw new CommandException(ExitCode.UNAVAILABLE,
          "the real Mooncake is not installed; run: gatun mooncake install");
    }
    PdReport report = new PdReport(options);
    try (RunLogs logs = RunLogs.open("pd", nativeLog);
        PdChild prefill = new PdChild(PdSide.PREFILL, logs.file("prefill"), options.answerMax());
        PdChild decode = new PdChild(PdSide.DECODE, logs.file("decode"), options.answerMax())) {
      PdRun run = new PdRun(options, report, prefill, decode);
      try {
        run.open();
        new Progress(json, "prompts", options.prompts(), report::prompts, () -> "").during(run::handOver);
      } catch (PdChild.Ended ended) {
        run.survive(ended);
      }
      if (report.exitCode() == ExitCode.OK) logs.succeeded();
      return report;
    } catch (IOException noProcess) {
      throw new UncheckedIOException("a side's process cannot be started", noProcess);
    }
  }

  private void open() {
    if (options.device().isPresent()) {
      openOnDevice(options.device().get());
      return;
    }
    JsonFields identity = prefill.ask(PdProtocol.OPEN, settings(PdSide.PREFILL));
    decode.ask(PdProtocol.OPEN, settings(PdSide.DECODE));
    route(identity);
  }

  private void route(JsonFields identity) {
    if (identity.has("bootstrap")) {
      remote = Map.of("do_remote_prefill", true, "do_remote_decode", false, "remote_engine_id",
          identity.text("engineId"), "remote_bootstrap_addr", identity.text("bootstrap"));
    }
  }

  private void openOnDevice(PdDevice device) {
    try {
      Path folder = Leftovers.temporaryFolder("gatun-pd-");
      try {
        connect(device, folder.resolve("sender"));
      } finally {
        Leftovers.delete(folder); // who is connected needs the name no more
      }
    } catch (IOException e) {
      throw new UncheckedIOException("no temporary folder for a socket", e);
    }
  }

  private void connect(PdDevice device, Path socket) {
    JsonFields first = prefill.ask(PdProtocol.OPEN, settings(PdSide.PREFILL));
    JsonFields second = decode.ask(PdProtocol.OPEN, settings(PdSide.DECODE));
    DeviceRouting routing = new DeviceRouting(device, prefill, first, decode, second);
    PathChoice choice = routing.connect(socket);
    if (device.refitEvery() > 0 && choice.path() != DevicePath.SAME_HOST) {
      throw new CommandException(ExitCode.USAGE, "--refit-every needs the same-host path, and this is " + choice);
    }
    route(routing.identity());
    report.took(choice, first.text("gpu"), second.text("gpu"));
  }

  private Map<String, Object> settings(PdSide side) {
    Map<String, Object> settings = new LinkedHashMap<>(Map.of("side", side.toString(), "engine", options.engine(),
        "pageBytes", options.pageBytes(), "promptPages", options.promptPages(), "timeoutSeconds",
        options.timeout().toSeconds()));
    options.device().ifPresent(device -> settings.put("device", device.map()));
    return settings;
  }

  private void handOver() {
    int refitEvery = options.device().map(PdDevice::refitEvery).orElse(0);
    report.first(handOver(options.prompts(), Math.min(options.promptPages(), options.pages()), false));
    long startNanos = System.nanoTime();
    try {
      for (int prompt = 0; prompt < options.prompts(); prompt++) {
        if (refitEvery > 0 && prompt % refitEvery == 0 && refitted(prompt)) continue;
        report.handedOver(handOver(prompt, options.pagesOf(prompt), false));
      }
    } finally {
      report.ran(System.nanoTime() - startNanos);
    }
    if (refitEvery > 0) {
      report.changedAfterLease(decode.ask(PdProtocol.BLOCKS, Map.of()).number("changedAfterLease").longValue());
    }
  }

  /** A hand-over in whose middle decode refits; then prefill does. {@return whether it was done before} */
  private boolean refitted(int prompt) {
    JsonFields taken = handOver(prompt, options.pagesOf(prompt), true);
    prefill.ask(PdProtocol.REFIT, Map.of("version", taken.number("version")));
    report.refitted(taken.flag("revoked"));
    if (!taken.flag("revoked")) report.handedOver(taken);
    return !taken.flag("revoked");
  }

  private JsonFields handOver(int prompt, int pages, boolean refit) {
    Map<String, Object> which = Map.of("prompt", prompt, "pages", pages);
    String transferId = "xfer-" + UUID.randomUUID();
    Map<String, Object> question = new LinkedHashMap<>(which);
    question.put("transferId", transferId);
    JsonFields computed = prefill.ask(PdProtocol.PREFILL, question);
    Map<String, Object> params = new LinkedHashMap<>(remote);
    if (!remote.isEmpty()) params.put("transfer_id", transferId);
    computed.object("params").map().forEach((name, value) -> params.put(String.valueOf(name), value));
    if (refit) params.put("refit", true);
    question = new LinkedHashMap<>(which);
    question.put("params", params);
    JsonFields taken = decode.ask(PdProtocol.DECODE, question);
    String failure = taken.text("failure");
    if (!failure.isEmpty()) {
      if (prefill.hasEnded()) throw prefill.ended();
      throw new CommandException(ExitCode.FAILED, "prompt " + prompt + " was not handed over: " + failure);
    }
    return taken;
  }

  /** One side is gone: the other must come to rest, with every block free again. */
  private void survive(PdChild.Ended ended) {
    report.failed(String.valueOf(ended.getMessage()));
    PdChild survivor = prefill.hasEnded() ? decode : prefill;
    try {
      Deadline deadline = Deadline.after(REST_MAX);
      JsonFields blocks = survivor.ask(PdProtocol.BLOCKS, Map.of());
      while (!blocks.number("free").equals(blocks.number("blocks")) && !deadline.reached()) {
        LockSupport.parkNanos(REST_LOOK_NANOS);
        blocks = survivor.ask(PdProtocol.BLOCKS, Map.of());
      }
      report.survived(survivor.side(), blocks.map());
    } catch (PdChild.Ended | CommandException both) {
      report.failed(ended.getMessage() + "; " + both.getMessage());
    }
  }
}
