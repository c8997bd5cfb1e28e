package dev.gatun.cli.replay;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Progress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The whole of a replay, from options to report. */
public final class Replay {
  // some minutes of refits; timestamps in another unit, or from different clocks, would give years of them
  private static final long RESETS_MAX = 100_000;

  private Replay() {}

  /**
   * Replays a trace. Blocks until it is done; shows its progress on standard error.
   *
   * @param options what to do
   * @param json whether standard output will carry JSON
   * @param nativeLog where native libraries log, null for temporary files
   * @return how it went
   * @throws CommandException if the trace cannot be read, or what it needs is not installed
   */
  public static ReplayReport run(ReplayOptions options, boolean json, @Nullable Path nativeLog) {
    Trace trace = load(options.trace());
    IdealCache ideal = IdealCache.of(trace, options.refitEveryMillis());
    requireFew(ideal.resets(), options, trace);
    CapacityPlan capacity = options.capacity(ideal);
    if (!json) System.err.print(ReplayReport.plan(options, trace, capacity));
    try (ReplayHost host = options.mooncake()
        ? new MooncakeHost(options, capacity, nativeLog)
        : new LoopbackHost(options, trace, capacity, nativeLog)) {
      ReplayReport report = drive(host, options, trace, ideal, capacity, json);
      if (report.exitCode() == ExitCode.OK) host.succeeded();
      return report;
    }
  }

  private static ReplayReport drive(ReplayHost host, ReplayOptions options, Trace trace, IdealCache ideal,
      CapacityPlan capacity, boolean json) {
    try (ReplayRun run = new ReplayRun(host.replicas(), ideal.resets(), host.failingMaster())) {
      run.open();
      host.onOpened();
      long startNanos = System.nanoTime();
      Progress progress = new Progress(json, "requests", trace.requests(), run::requestsDone,
          () -> run.resets() == 0 ? "" : ", " + run.resets() + " of " + ideal.resets() + " resets");
      progress.during(run::run);
      long wallNanos = System.nanoTime() - startNanos;
      return new ReplayReport(options, trace, ideal, capacity, run.figures(), run.refits(), wallNanos);
    }
  }

  private static void requireFew(long resets, ReplayOptions options, Trace trace) {
    if (resets <= RESETS_MAX) return;
    throw new IllegalArgumentException("--refit-every must give at most " + RESETS_MAX + " refits: "
        + options.refitEveryMillis() + " gives " + resets + " in the " + trace.durationMillis() + " ms of "
        + trace.source()
        + "; check the trace's timestamps, or refit less often");
  }

  private static Trace load(TraceSource source) {
    try {
      return source.load();
    } catch (TraceException wrong) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(wrong.getMessage()));
    }
  }
}
