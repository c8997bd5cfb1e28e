package dev.gatun.cli;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.OptionText;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.fleet.FleetRefit;
import dev.gatun.fleet.FleetReport;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.refit.RefitReport;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gatun refit}: what a trainer's script calls at a step boundary, once every host has stopped. */
@Command(name = "refit", sortOptions = false, description = {
    "Removes every page from a store and proves it, for a refit to new weights.",
    "Hosts that use the store must have stopped putting before it, and must not begin again before it ends.",
    "Exit codes: 0 VERIFIED, 3 ISOLATED or UNVERIFIED, 1 FAILED, 4 the master does not answer; 2 and nothing done where keys",
    "of more than one owner or of unknown form are there.",
    "With --fleet or --engine it stops and starts the hosts itself, engines that it reaches over HTTP.",
    "Exit codes are then: 0 VERIFIED, 1 refused or FAILED, 2 UNVERIFIED or ISOLATED."})
final class RefitCommand extends GatunCommand {
  /** What a trainer's script looks for: not proven is neither right nor wrong. */
  private static final int FLEET_UNPROVEN = 2;

  @Mixin
  StoreConnection connection = new StoreConnection();

  @Mixin
  FleetOptions fleet = new FleetOptions();

  @Option(names = "--run", paramLabel = "NAME", description = "the training run, as the trainer names it; required, or in the file of --fleet")
  @Nullable
  String run;

  @Option(names = {"--version",
      "--weight-version"}, paramLabel = "N", description = "the weight version to come, 1 or more; required, or in the file of --fleet")
  @Nullable
  Long version;

  @Option(names = "--namespace", paramLabel = "NAME", description = "with --epoch-in-key yes: the namespace of the hosts' keys; default: default")
  @Nullable
  String namespace;

  @Option(names = "--epoch-in-key", paramLabel = "yes|no", description = "whether the hosts' keys carry the weight version; default: no")
  @Nullable
  String epochInKey;

  @Option(names = "--others", paramLabel = "WHO", description = "who else puts into the store: none, fenced (stopped for the time of the refit), unfenced; default: fenced; a fleet's engines decide it")
  @Nullable
  String others;

  @Option(names = "--on-failure", paramLabel = "WHAT", description = "fail, or retry with back-off; default: fail")
  @Nullable
  String onFailure;

  @Option(names = "--deadline", paramLabel = "SECONDS", description = "longest time of an attempt; default: 30")
  @Nullable
  Integer deadlineSeconds;

  @Option(names = "--force-global", description = "remove everything, whoever owns it; not for a fleet, whose engines' own resets do so anyway")
  boolean forceGlobal;

  @Override
  int run() {
    String lonely = fleet.withoutEngines();
    if (lonely != null) throw usage(lonely + " is for a fleet: give --fleet FILE or --engine URL");
    return fleet.given() ? fleet() : store();
  }

  private int store() {
    if (run == null) throw usage("--run NAME is missing");
    if (version == null) throw usage("--version N is missing");
    if (version < 1) throw usage("--version must be 1 or more: " + version);
    if (deadlineSeconds != null && deadlineSeconds < 1) throw usage("--deadline must be 1 or more: " + deadlineSeconds);
    WeightEpoch next = new WeightEpoch(run, version);
    boolean inKey = epochInKey != null && OptionText.bool("--epoch-in-key", epochInKey);
    KeyCodec codec = inKey ? KeyCodec.epoch(namespace == null ? "default" : namespace) : KeyCodec.verbatim();
    RefitPolicy.OnFailure reaction = onFailure == null
        ? RefitPolicy.OnFailure.FAIL
        : RefitPolicy.OnFailure.of(onFailure);
    if (reaction == RefitPolicy.OnFailure.DISABLE_STORE) {
      throw usage("--on-failure disable-store is for hosts in a JVM; this command has no host to disable");
    }
    RefitPolicy policy = RefitPolicy.DEFAULT.withOtherClients(who()).withOnFailure(reaction);
    if (deadlineSeconds != null) policy = policy.withDeadline(Duration.ofSeconds(deadlineSeconds));
    RefitPolicy chosen = policy;
    return withNativeLog(log -> {
      OwnerCheck.requireOne(connection, forceGlobal, "store reset --namespace NAME or --prefix TEXT");
      return refit(this, connection, codec, next, chosen);
    });
  }

  /** Everything that is wrong is refused with 1: 2 says of a fleet that it is not verified. */
  private int fleet() {
    try {
      FleetRefit refit = new FleetRefit(fleet.config(fleetValues()));
      return withNativeLog(log -> fleet(refit));
    } catch (IllegalArgumentException refused) {
      throw new CommandException(ExitCode.FAILED, String.valueOf(refused.getMessage()));
    }
  }

  private int fleet(FleetRefit refit) {
    LastWords words = LastWords.allow();
    try {
      FleetReport report = fleet.dryRun ? refit.plan() : refit.run();
      answer(report.map(), report.text());
      return switch (report.outcome()) {
        case VERIFIED, PLANNED, SKIPPED -> ExitCode.OK;
        case REFUSED, FAILED -> ExitCode.FAILED;
        case UNVERIFIED, ISOLATED -> FLEET_UNPROVEN;
      };
    } finally {
      words.said();
    }
  }

  private Map<String, Object> fleetValues() {
    if (others != null) throw new IllegalArgumentException("--others is decided by the engines of a fleet: " + others);
    if (forceGlobal)
      throw new IllegalArgumentException("--force-global is for a store without a fleet: an engine's reset "
          + "removes everything, whoever owns it");
    Map<String, Object> values = connection.values();
    FleetOptions.put(values, "run", run);
    FleetOptions.put(values, "weight_version", version);
    FleetOptions.put(values, "namespace", namespace);
    FleetOptions.put(values, "epoch_in_key", epochInKey);
    FleetOptions.put(values, "on_failure", onFailure);
    if (deadlineSeconds != null) values.put("deadline", deadlineSeconds + "s");
    return values;
  }

  private RefitPolicy.OtherClients who() {
    if (others == null) return RefitPolicy.OtherClients.FENCED;
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
