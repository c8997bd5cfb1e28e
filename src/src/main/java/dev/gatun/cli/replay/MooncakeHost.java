package dev.gatun.cli.replay;

import dev.gatun.backend.HostPort;
import dev.gatun.backend.StoreOptions;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.Leftovers;
import dev.gatun.nativelib.MasterOptions;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.nativelib.MooncakeRuntime;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A real Mooncake: a master is started for the run, and each replica is a process of its own that gives it memory. */
final class MooncakeHost implements ReplayHost {
  private static final String LOCALHOST = "127.0.0.1";

  private final RunLogs logs;
  private final MooncakeMaster master;
  private final @Nullable MasterRelay relay;
  private final List<ChildReplica> replicas = new ArrayList<>();

  MooncakeHost(ReplayOptions options, CapacityPlan capacity, @Nullable Path nativeLog) {
    MooncakeRuntime runtime = MooncakeRuntime.installed().orElseThrow(() -> new CommandException(ExitCode.UNAVAILABLE,
        "the real Mooncake is not installed; run: gatun mooncake install"));
    logs = RunLogs.open("replay", nativeLog);
    master = MooncakeMaster.start(runtime, MasterOptions.DEFAULT.withLog(logs.file("master")));
    Leftovers.add(master, master::close);
    try {
      relay = options.fault() == Fault.IGNORE_REMOVAL_CODE ? new MasterRelay(rpcAddress()) : null;
      for (int index = 0; index < options.replicas(); index++) {
        replicas.add(new ChildReplica(options.settings(index, store(capacity)), logs.file("replica-" + index)));
      }
    } catch (IOException noProcess) {
      close();
      throw new CommandException(ExitCode.FAILED, "replica " + replicas.size() + " cannot be started: "
          + noProcess.getMessage() + "; its log: " + logs.file("replica-" + replicas.size()));
    }
  }

  private StoreOptions store(CapacityPlan capacity) {
    return StoreOptions.mooncake(relay == null ? master.rpcAddress() : relay.address())
        .masterAdmin(master.adminUrl().toString()).localHostname(LOCALHOST).segmentBytes(capacity.segmentBytes())
        .build();
  }

  private InetSocketAddress rpcAddress() {
    HostPort address = HostPort.parse("master", master.rpcAddress(), HostPort.NO_PORT);
    return new InetSocketAddress(address.host(), address.port());
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
    return relay;
  }

  @Override
  public void succeeded() {
    logs.succeeded();
  }

  @Override
  public void close() {
    replicas.forEach(ChildReplica::cancel);
    if (relay != null) relay.close();
    master.close();
    Leftovers.forget(master);
    logs.close();
  }
}
