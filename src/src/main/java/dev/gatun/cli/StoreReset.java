package dev.gatun.cli;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.refit.NamespaceReport;
import dev.gatun.refit.NamespaceReset;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gatun store reset}. */
@Command(name = "reset", sortOptions = false, description = {
    "Removes every object of every client, or one namespace, its older epochs, or keys that begin with a text, and proves it.",
    "Whoever puts what is to be removed must have stopped before.",
    "Exit codes: 0 VERIFIED, 3 UNVERIFIED or ISOLATED, 1 FAILED; 2 and nothing done where everything would go and keys of",
    "more than one owner or of unknown form are there, or none can be listed."})
final class StoreReset extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Option(names = "--namespace", paramLabel = "NAME", description = "only keys of this namespace of Gatun's")
  @Nullable
  String namespace;

  @Option(names = "--run", paramLabel = "NAME", description = "with --namespace and --below: the training run")
  @Nullable
  String run;

  @Option(names = "--below", paramLabel = "VERSION", description = "with --namespace and --run: only weight versions below this one, 1 or more")
  @Nullable
  Long below;

  @Option(names = "--prefix", paramLabel = "TEXT", description = "only keys that begin with this, literally, such as tenant@ of engines with that cache prefix")
  @Nullable
  String prefix;

  @Option(names = "--force-global", description = "remove everything, whoever owns it")
  boolean forceGlobal;

  @Override
  int run() {
    RefitPolicy policy = RefitPolicy.DEFAULT.withOtherClients(RefitPolicy.OtherClients.FENCED);
    if ((run == null) != (below == null)) throw usage("give --run NAME and --below VERSION together");
    if (run != null && namespace == null) throw usage("--below needs --namespace NAME");
    if (prefix != null && namespace != null) throw usage("give --namespace or --prefix, not both");
    if (namespace == null && prefix == null) {
      return withNativeLog(log -> {
        OwnerCheck.requireOne(connection, forceGlobal, "--namespace NAME or --prefix TEXT");
        return RefitCommand.refit(this, connection, KeyCodec.verbatim(), new WeightEpoch("reset", 1), policy);
      });
    }
    if (forceGlobal) throw usage("--force-global is for a reset of everything");
    if (prefix != null && prefix.isEmpty()) throw usage("--prefix must not be empty");
    if (namespace != null) KeyCodec.plain(namespace); // refuses a bad name before anything is sent
    if (below != null && below < 1) throw usage("--below must be 1 or more: " + below);
    return withNativeLog(log -> {
      try (KvStore store = connection.open(0)) {
        NamespaceReport report = reset(new NamespaceReset(store.refitPort(), policy));
        answer(report.map(), report.text());
        return switch (report.outcome()) {
          case VERIFIED -> ExitCode.OK;
          case ISOLATED, UNVERIFIED -> ExitCode.UNPROVEN;
          case FAILED -> ExitCode.FAILED;
        };
      }
    });
  }

  private NamespaceReport reset(NamespaceReset reset) {
    if (prefix != null) return reset.prefix(keyText("--prefix", prefix));
    String name = String.valueOf(namespace);
    return run == null || below == null ? reset.namespace(name) : reset.below(name, new WeightEpoch(run, below));
  }
}
