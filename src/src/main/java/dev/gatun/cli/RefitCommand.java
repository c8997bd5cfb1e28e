package dev.gatun.cli;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.OptionText;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.refit.RefitReport;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gatun refit}: what a trainer's script calls at a step boundary, once every host has stopped. */
@Command(name = "refit", sortOptions = false, description = {
    "Removes every page from a store and proves it, for a refit to new weights.",
    "Hosts that use the store must have stopped putting before it, and must not begin again before it ends.",
    "Exit codes: 0 VERIFIED, 3 ISOLATED or UNVERIFIED, 1 FAILED, 4 the master does not answer."})
final class RefitCommand extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Option(names = "--run", paramLabel = "NAME", required = true, description = "the training run, as the trainer names it")
  String run = "";

  @Option(names = "--version", paramLabel = "N", required = true, description = "the weight version to come, 1 or more")
  long version;

  @Option(names = "--namespace", paramLabel = "NAME", description = "with --epoch-in-key yes: the namespace of the hosts' keys; default: ${DEFAULT-VALUE}")
  String namespace = "default";

  @Option(names = "--epoch-in-key", paramLabel = "yes|no", description = "whether the hosts' keys carry the weight version; default: ${DEFAULT-VALUE}")
  String epochInKey = "no";

  @Option(names = "--others", paramLabel = "WHO", description = "who else puts into the store: none, fenced (stopped for the time of the refit), unfenced; default: "
      + "${DEFAULT-VALUE}")
  String others = "fenced";

  @Option(names = "--on-failure", paramLabel = "WHAT", description = "fail, or retry with back-off; default: ${DEFAULT-VALUE}")
  String onFailure = "fail";

  @Option(names = "--deadline", paramLabel = "SECONDS", description = "longest time of an attempt; default: ${DEFAULT-VALUE}")
  int deadlineSeconds = 30;

  @Override
  int run() {
    if (version < 1) throw usage("--version must be 1 or more: " + version);
    if (deadlineSeconds < 1) throw usage("--deadline must be 1 or more: " + deadlineSeconds);
    WeightEpoch next = new WeightEpoch(run, version);
    KeyCodec codec = OptionText.bool("--epoch-in-key", epochInKey) ? KeyCodec.epoch(namespace) : KeyCodec.verbatim();
    RefitPolicy.OnFailure reaction = RefitPolicy.OnFailure.of(onFailure);
    if (reaction == RefitPolicy.OnFailure.DISABLE_STORE) {
      throw usage("--on-failure disable-store is for hosts in a JVM; this command has no host to disable");
    }
    RefitPolicy policy = RefitPolicy.defaults().withOtherClients(who()).withOnFailure(reaction)
        .withDeadline(Duration.ofSeconds(deadlineSeconds));
    return withNativeLog(log -> refit(this, connection, codec, next, policy));
  }

  private RefitPolicy.OtherClients who() {
    for (RefitPolicy.OtherClients value : RefitPolicy.OtherClients.values()) {
      if (value.name().equalsIgnoreCase(others)) return value;
    }
    throw usage("--others must be one of " + Arrays.stream(RefitPolicy.OtherClients.values())
        .map(value -> value.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", ")) + ": \"" + others + '"');
  }

  /** Refits through a client that contributes nothing, and answers with the report. */
  static int refit(GatunCommand command, StoreConnection connection, KeyCodec codec, WeightEpoch next,
      RefitPolicy policy) {
    EpochGate gate = new EpochGate(new WeightEpoch(next.run(), next.version() - 1));
    try (KvStore store = StoreConnection.open(connection.options(0), codec, gate)) {
      RefitReport report = new RefitCoordinator(gate, List.of(store.refitPort()), policy, Observer.NONE).refit(next);
      command.answer(report.map(), report.text());
      return switch (report.outcome()) {
        case VERIFIED -> ExitCode.OK;
        case ISOLATED, UNVERIFIED -> ExitCode.UNPROVEN;
        case FAILED -> ExitCode.FAILED;
      };
    }
  }
}
