package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.StoreCode;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Runs a batch: claims it, passes the gate, marks the blocks, calls the library, judges what came back, lets the blocks
 * go and reports. Whatever is refused is refused before anything is sent.
 */
final class BatchRun {
  private static final long MISS = StoreCode.OBJECT_NOT_FOUND.raw();
  private static final long PRESENT = StoreCode.OBJECT_ALREADY_EXISTS.raw();

  private final StoreCore core;
  private final BatchEntries entries;
  private final RegisteredSlab registered;
  private final Slab slab;
  private final Activity activity;
  private final BatchPins pins;
  private final BatchCalls calls;
  private final ExistenceQuestion question;
  private final @Nullable Stamp stamp;
  private final int headerBytes;

  BatchRun(StoreCore core, BatchEntries entries, BlockPool pool, RegisteredSlab registered, Activity activity,
      Arena arena) {
    this.core = core;
    this.entries = entries;
    this.registered = registered;
    slab = pool.slab();
    this.activity = activity;
    headerBytes = core.codec.headerBytes();
    stamp = core.codec.verify() == Verify.NONE ? null : new Stamp(core.codec, pool.slab().segment(), arena);
    pins = new BatchPins(entries, pool, registered, core.quarantined, core.codec, stamp);
    calls = new BatchCalls(core, entries);
    question = new ExistenceQuestion(core, entries, activity);
  }

  void put(MemorySegment replicate) {
    begin("put");
    try {
      entries.requireBlocks("put");
      int ticket = core.enter("put", entries.sealed);
      try {
        requireRegistered("put");
        entries.requireCurrent("put");
        if (stamp != null) stamp.epoch(entries.epoch());
        pins.forPut();
        putPinned(replicate);
      } finally {
        core.gate.exit(ticket);
      }
    } finally {
      activity.end();
    }
  }

  /** Gets; {@code held} tells that each block has a reference beside its holder's, for this operation. */
  void get(boolean held) {
    begin("get");
    try {
      entries.requireBlocks("get");
      boolean done = false;
      boolean renew = false;
      while (!done) {
        int ticket = core.enterOrPark("get", entries.sealed, activity);
        if (ticket == StoreCore.DISABLED) {
          entries.start(BatchEntries.Ran.GET);
          entries.finish(MISS);
          return;
        }
        try {
          requireRegistered("get");
          renew |= entries.rekey();
          // false: a refit began between entering and reading the epoch; wait for that one too
          done = core.gate.isCurrent(ticket);
          if (done) {
            if (stamp != null) stamp.epoch(entries.epoch());
            pins.forGet(renew, held ? 2 : 1);
            getPinned(ticket);
          }
        } finally {
          core.gate.exit(ticket);
        }
      }
    } finally {
      activity.end();
    }
  }

  void exists() {
    question.ask();
  }

  private void begin(String operation) {
    activity.begin(operation, entries.size);
    entries.seal();
  }

  private void requireRegistered(String operation) {
    if (!registered.isOpen()) {
      throw new ClosedException(
          operation + " refused: the slab of the pool was unregistered from " + registered.name());
    }
    if (!slab.segment().scope().isAlive()) {
      throw new ClosedException(operation + " refused: the owner of " + slab + " has closed its arena");
    }
  }

  private void putPinned(MemorySegment replicate) {
    long started = System.nanoTime();
    activity.nativeSince(started);
    try {
      entries.start(BatchEntries.Ran.PUT);
      boolean all = !core.policy.probeBeforePut() || probe();
      calls.put(replicate, all);
    } catch (RuntimeException | Error e) {
      entries.finish(Outcome.NOT_SENT);
      throw e;
    } finally {
      endPut(System.nanoTime() - started);
    }
  }

  /** Gives keys that are there the outcome of a key that is there. {@return whether there are none} */
  private boolean probe() {
    calls.exists();
    boolean none = true;
    for (int i = 0; i < entries.sealed; i++) {
      boolean present = entries.outcomes[i] == 1;
      entries.outcomes[i] = present ? PRESENT : Outcome.UNSET;
      none &= !present;
    }
    return none;
  }

  private void endPut(long nanos) {
    boolean remembered = core.failedKeys.active();
    int stored = 0;
    int present = 0;
    long bytes = 0;
    for (int i = 0; i < entries.sealed; i++) {
      long outcome = entries.outcomes[i];
      pins.endPut(i, outcome);
      if (outcome == 0) {
        stored++;
        bytes += entries.objectBytes[i];
        if (remembered) core.failedKeys.remove(entries.keys[i].hash());
      } else if (outcome == PRESENT) {
        present++;
      } else {
        entries.detail(i, core.segmentLimit.detail(entries.keys[i], entries.objectBytes[i], outcome));
      }
    }
    core.observer.onPut(stored, present, entries.sealed - stored - present, bytes - (long) stored * headerBytes, nanos);
  }

  private void getPinned(int ticket) {
    long started = System.nanoTime();
    activity.nativeSince(started);
    try {
      entries.start(BatchEntries.Ran.GET);
      boolean all = !question.leaveOutFailedKeys();
      calls.get(all);
    } catch (RuntimeException | Error e) {
      entries.finish(Outcome.NOT_SENT);
      throw e;
    } finally {
      endGet(System.nanoTime() - started, core.gate.isCurrent(ticket));
    }
  }

  private void endGet(long nanos, boolean current) {
    int hits = 0;
    long bytes = 0;
    for (int i = 0; i < entries.sealed; i++) {
      long outcome = entries.outcomes[i];
      if (outcome >= 0) {
        outcome = judge(i, outcome, current);
        entries.outcomes[i] = outcome;
      }
      pins.endGet(i, outcome);
      if (outcome > 0) {
        hits++;
        bytes += outcome;
      }
    }
    reportGet(hits, bytes, nanos);
  }

  private void reportGet(int hits, long bytes, long nanos) {
    int misses = 0;
    int expired = 0;
    int rejected = 0;
    int others = 0;
    for (int i = 0; hits + misses + expired + rejected + others < entries.sealed; i++) {
      long outcome = entries.outcomes[i];
      if (outcome > 0) continue;
      if (outcome == MISS) misses++;
      else if (outcome == StoreCode.LEASE_EXPIRED.raw()) expired++;
      else if (Outcome.isRejection(outcome)) rejected++;
      else
        others++;
      if (outcome == StoreCode.TRANSFER_FAIL.raw()) core.failedKeys.add(entries.keys[i].hash(), outcome);
    }
    core.observer.onGet(hits, misses, expired, rejected, others, bytes, nanos);
  }

  /** {@return the length of the page that arrived, or why it is not the page that was asked for} */
  private long judge(int index, long arrivedBytes, boolean current) {
    if (!current) return Outcome.of(Rejection.STALE);
    if (arrivedBytes == 0) return Outcome.of(Rejection.EMPTY);
    if (arrivedBytes > entries.objectBytes[index]) return Outcome.of(Rejection.TORN);
    if (stamp == null) return arrivedBytes;
    Rejection reason = stamp.check(pins.offset(index), entries.keys[index].hash(), arrivedBytes);
    return reason == null ? arrivedBytes - headerBytes : Outcome.of(reason);
  }
}
