package dev.gatun.cli.replay;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.WeightEpoch;
import java.util.List;
import java.util.Optional;

/**
 * A replica's store as its refits see it: counts canaries, since these are no pages, and breaks the removal where a
 * control asks for that. Any thread.
 */
final class ReplicaPort implements RefitStore {
  private final RefitStore store;
  private final Fault fault;
  private final Runnable afterLastPass;
  private long canaries;

  ReplicaPort(RefitStore store, Fault fault, Runnable afterLastPass) {
    this.store = store;
    this.fault = fault;
    this.afterLastPass = afterLastPass;
  }

  /** {@return canaries put since the last call} */
  synchronized long takeCanaries() {
    long put = canaries;
    canaries = 0;
    return put;
  }

  @Override
  public long removeAllForced() {
    return switch (fault) {
      case DROP_REMOVAL -> 0;
      case IGNORE_REMOVAL_CODE -> Math.max(0, store.removeAllForced());
      case LATE_FOREIGN_PUT -> {
        long removed = store.removeAllForced();
        if (removed == 0) afterLastPass.run();
        yield removed;
      }
      case NONE -> store.removeAllForced();
    };
  }

  @Override
  public long removePrefixForced(String prefix) {
    return store.removePrefixForced(prefix);
  }

  @Override
  public int putCanary(String key) {
    int code = store.putCanary(key);
    if (code == 0) {
      synchronized (this) {
        canaries++;
      }
    }
    return code;
  }

  @Override
  public long sizeOfCanary(String key) {
    return store.sizeOfCanary(key);
  }

  @Override
  public Optional<StoreCensus> census() {
    return store.census();
  }

  @Override
  public boolean epochInKey() {
    return store.epochInKey();
  }

  @Override
  public long keysSent() {
    return store.keysSent();
  }

  @Override
  public boolean carriesEpoch(String key, WeightEpoch epoch) {
    return store.carriesEpoch(key, epoch);
  }

  @Override
  public List<String> doubts() {
    return store.doubts();
  }

  @Override
  public String name() {
    return store.name();
  }

  @Override
  public int failQueued() {
    return store.failQueued();
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return store.drain(deadline);
  }

  @Override
  public void clearLocal() {
    store.clearLocal();
  }
}
