package dev.gatun.cli.replay;

import dev.gatun.backend.StoreOptions;
import dev.gatun.cli.console.NativeLogFile;
import dev.gatun.internal.backend.LoopbackMaster;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitGroup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The embedded store: all replicas are threads of this process, meet in one pool and refit as one group. */
final class LoopbackHost implements ReplayHost {
  private static final String POOL = "replay";

  private final ReplayOptions options;
  private final NativeLogFile log;
  private final StoreOptions store;
  private final List<LocalReplica> replicas = new ArrayList<>();

  LoopbackHost(ReplayOptions options, Trace trace, CapacityPlan capacity, @Nullable Path nativeLog) {
    this.options = options;
    log = NativeLogFile.open(nativeLog);
    store = StoreOptions.loopback(POOL, capacity.segmentBytes());
    for (int index = 0; index < options.replicas(); index++) {
      replicas.add(LocalReplica.beside(options.settings(index, store), trace));
    }
  }

  @Override
  public List<LocalReplica> replicas() {
    return replicas;
  }

  @Override
  public void onOpened() {
    List<RefitCoordinator> coordinators = new ArrayList<>();
    for (LocalReplica replica : replicas) {
      RefitCoordinator coordinator = replica.coordinator();
      if (coordinator != null) coordinators.add(coordinator);
    }
    if (coordinators.size() > 1) new RefitGroup(LocalReplica.policy(options.fault()), coordinators);
  }

  @Override
  public @Nullable MasterSwitch failingMaster() {
    if (options.fault() != Fault.IGNORE_REMOVAL_CODE) return null;
    LoopbackMaster master = new LoopbackMaster(store.master());
    return new MasterSwitch() {
      @Override
      public void fail() {
        master.fail();
      }

      @Override
      public void mend() {
        master.mend();
      }
    };
  }

  @Override
  public void succeeded() {
    log.succeeded();
  }

  @Override
  public void close() {
    log.close();
  }
}
