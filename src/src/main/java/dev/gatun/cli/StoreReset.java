package dev.gatun.cli;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KeyCodec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code gatun store reset}. */
@Command(name = "reset", description = {"Removes every object of every client, and proves it as a refit does.",
    "Exit codes: 0 VERIFIED, 3 UNVERIFIED, 1 FAILED."})
final class StoreReset extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Override
  int run() {
    RefitPolicy policy = RefitPolicy.defaults().withOtherClients(RefitPolicy.OtherClients.FENCED);
    return withNativeLog(log -> RefitCommand.refit(this, connection, KeyCodec.verbatim(), new WeightEpoch("reset", 1),
        policy));
  }
}
