package dev.gatun.refit;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** A replica over a scripted master: gate, store, coordinator. */
final class Replica {
  static final WeightEpoch OLD = new WeightEpoch("run", 1);
  static final WeightEpoch NEW = new WeightEpoch("run", 2);
  static final WeightEpoch NEXT = new WeightEpoch("run", 3);
  /** Short where a test hangs a call on purpose, and far above what anything else takes. */
  static final RefitPolicy QUICK = RefitPolicy.DEFAULT.withDeadline(Duration.ofMillis(800));

  final EpochGate gate = new EpochGate(OLD);
  final FakeMaster master;
  final FakeStore store;
  final RefitCoordinator coordinator;

  Replica(String name, FakeMaster master, boolean epochInKey, RefitPolicy policy) {
    this(name, master, epochInKey, policy, Observer.NONE);
  }

  Replica(String name, FakeMaster master, boolean epochInKey, RefitPolicy policy, Observer observer) {
    this(name, master, epochInKey, policy, observer, store -> {});
  }

  private Replica(String name, FakeMaster master, boolean epochInKey, RefitPolicy policy, Observer observer,
      Consumer<FakeStore> setup) {
    this.master = master;
    store = new FakeStore(name, master, gate, epochInKey);
    setup.accept(store);
    coordinator = new RefitCoordinator(gate, List.of(store), policy, observer);
  }

  static Replica with(boolean epochInKey, RefitPolicy policy, Consumer<FakeStore> setup) {
    return new Replica("store", new FakeMaster("master"), epochInKey, policy, Observer.NONE, setup);
  }

  static Replica plain() {
    return plain(RefitPolicy.DEFAULT);
  }

  static Replica plain(RefitPolicy policy) {
    return new Replica("store", new FakeMaster("master"), false, policy);
  }

  static Replica keyed(RefitPolicy policy) {
    return new Replica("store", new FakeMaster("master"), true, policy);
  }

  /** Puts a few old pages. */
  Replica filled() {
    for (int i = 0; i < 5; i++)
      store.put("page" + i);
    return this;
  }
}
