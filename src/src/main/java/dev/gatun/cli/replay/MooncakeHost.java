package dev.gatun.cli.replay;

import dev.gatun.backend.StoreOptions;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.MasterOptions;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.nativelib.MooncakeRuntime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A real Mooncake: a master is started for the run, and each replica is a process of its own that gives it memory. */
final class MooncakeHost implements ReplayHost {
  private static final String LOCALHOST = "127.0.0.1";
  // 2 s: a master that is frozen on purpose is to be noticed soon
  private static final Duration SHORT_RPC = Duration.ofSeconds(2);

  private final ReplayOptions options;
  private final RunLogs logs;
  private final MooncakeMaster master;
  private final List<ChildReplica> replicas = new ArrayList<>();

  MooncakeHost(ReplayOptions options, CapacityPlan capacity, @Nullable Path nativeLog) {
    this.options = options;
    MooncakeRuntime runtime = MooncakeRuntime.installed().orElseThrow(() -> new CommandException(ExitCode.UNAVAILABLE,
        "the real Mooncake is not installed; run: gatun mooncake install"));
    logs = RunLogs.open(nativeLog);
    master = MooncakeMaster.start(runtime, MasterOptions.standard().withLog(logs.file("master")));
    try {
      for (int index = 0; index < options.replicas(); index++) {
        replicas.add(new ChildReplica(options.settings(index, store(capacity)), logs.file("replica-" + index)));
      }
    } catch (IOException noProcess) {
      close();
      throw new UncheckedIOException("a replica's process cannot be started", noProcess);
    }
  }

  private StoreOptions store(CapacityPlan capacity) {
    var store = StoreOptions.mooncake(master.rpcAddress()).masterAdmin(master.adminUrl().toString())
        .localHostname(LOCALHOST).segmentBytes(capacity.segmentBytes());
    return options.fault() == Fault.IGNORE_REMOVAL_CODE ? store.rpcTimeout(SHORT_RPC).build() : store.build();
  }

  @Override
  public List<ChildReplica> replicas() {
    return replicas;
  }

  @Override
  public void onOpened() {
    // processes meet at the step barrier only
  }

  @Override
  public @Nullable MasterSwitch failingMaster() {
    if (options.fault() != Fault.IGNORE_REMOVAL_CODE) return null;
    return new MasterSwitch() {
      @Override
      public void fail() {
        master.freeze();
      }

      @Override
      public void mend() {
        master.thaw();
      }
    };
  }

  @Override
  public void succeeded() {
    logs.succeeded();
  }

  @Override
  public void close() {
    replicas.forEach(ChildReplica::cancel);
    master.close();
    logs.close();
  }
}
