package dev.gatun.observe;

import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;

/**
 * Writes an event {@code dev.gatun.Put}, {@code Get}, {@code Exists}, {@code Remove}, {@code Skip} or {@code Reset} to
 * the flight recorder for each operation, while a recording asks for it. Usable by any thread.
 */
public final class FlightRecorderObserver implements Observer {

  /** Creates the observer; nothing is recorded until a recording runs. */
  public FlightRecorderObserver() {}

  @Override
  public void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {
    PutEvent event = new PutEvent();
    if (!event.shouldCommit()) return;
    event.stored = stored;
    event.alreadyPresent = alreadyPresent;
    event.failed = failed;
    event.bytes = bytes;
    event.nanos = nanos;
    event.commit();
  }

  @Override
  public void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {
    GetEvent event = new GetEvent();
    if (!event.shouldCommit()) return;
    event.hits = hits;
    event.misses = misses;
    event.leaseExpired = leaseExpired;
    event.rejected = rejected;
    event.failed = failed;
    event.bytes = bytes;
    event.nanos = nanos;
    event.commit();
  }

  @Override
  public void onExists(int present, int absent, int failed, long nanos) {
    ExistsEvent event = new ExistsEvent();
    if (!event.shouldCommit()) return;
    event.present = present;
    event.absent = absent;
    event.failed = failed;
    event.nanos = nanos;
    event.commit();
  }

  @Override
  public void onRemove(long removed, boolean failed, long nanos) {
    RemoveEvent event = new RemoveEvent();
    if (!event.shouldCommit()) return;
    event.removed = removed;
    event.failed = failed;
    event.nanos = nanos;
    event.commit();
  }

  @Override
  public void onSkip(String reason, int keys) {
    SkipEvent event = new SkipEvent();
    if (!event.shouldCommit()) return;
    event.reason = reason;
    event.keys = keys;
    event.commit();
  }

  @Override
  public void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {
    ResetEvent event = new ResetEvent();
    if (!event.shouldCommit()) return;
    event.run = epoch.run();
    event.version = epoch.version();
    event.outcome = outcome;
    event.removed = removed;
    event.nanos = nanos;
    event.commit();
  }
}
