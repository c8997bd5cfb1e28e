package dev.gatun.store;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The side door that a refit uses while the gate is closed to everybody else. */
final class StoreRefitPort implements RefitStore {
  private static final String CANARY = "gatun canary";

  private final StoreCore core;
  private final Staging staging;

  StoreRefitPort(StoreCore core, Staging staging) {
    this.core = core;
    this.staging = staging;
  }

  @Override
  public String name() {
    return "store " + core.backend.name();
  }

  /** Nothing is queued here: {@link AsyncKvStore} queues, and takes part by itself. */
  @Override
  public int failQueued() {
    return 0;
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return core.activities.awaitNone(Activity::running, deadline);
  }

  @Override
  public void clearLocal() {
    core.failedKeys.clear();
  }

  @Override
  public long removeAllForced() {
    return core.activities.runAside("removeAll of a refit", () -> {
      long started = System.nanoTime();
      long removed = core.backend.removeAll(true);
      core.observer.onRemove(Math.max(0, removed), removed < 0, System.nanoTime() - started);
      return removed;
    });
  }

  @Override
  public long removePrefixForced(String prefix) {
    byte[] pattern = KeyPattern.prefix(new byte[0], prefix);
    return core.activities.runAside("removePrefix of a reset", () -> {
      try (Arena call = Arena.ofConfined()) { // per call
        MemorySegment terminated = call.allocate(pattern.length + 1L);
        MemorySegment.copy(pattern, 0, terminated, ValueLayout.JAVA_BYTE, 0, pattern.length);
        long started = System.nanoTime();
        long removed = core.backend.removeMatching(terminated, true);
        core.observer.onRemove(Math.max(0, removed), removed < 0, System.nanoTime() - started);
        return removed;
      }
    });
  }

  /** Zero copy, since a store may have no local buffer. */
  @Override
  public int putCanary(String key) {
    return core.activities.runAside("canary of a refit", () -> {
      Staging.Buffer buffer = staging.take(CANARY.length());
      int outcome = StoreCode.INTERNAL_ERROR.raw();
      try (Arena call = Arena.ofConfined()) { // per call
        buffer.memory().setString(0, CANARY);
        MemorySegment codes = call.allocate(ValueLayout.JAVA_INT);
        core.keysSent.incrementAndGet();
        int code = core.backend.batchPut(column(call, call.allocateFrom(key).address()),
            column(call, buffer.memory().address()), column(call, CANARY.length()), 1,
            core.backend.encodeReplicate(ReplicateOptions.hardPinned(), call), codes);
        outcome = code != 0 ? code : codes.get(ValueLayout.JAVA_INT, 0);
        return outcome;
      } finally {
        if (Outcome.leavesNativeRunning(outcome)) staging.doubt(buffer);
        else
          staging.giveBack(buffer);
      }
    });
  }

  @Override
  public long sizeOfCanary(String key) {
    return core.activities.runAside("canary of a refit", () -> {
      try (Arena call = Arena.ofConfined()) { // per call
        return core.backend.size(call.allocateFrom(key));
      }
    });
  }

  @Override
  public long keysSent() {
    return core.keysSent.get();
  }

  @Override
  public Optional<StoreCensus> census() {
    return core.backend.census();
  }

  @Override
  public boolean epochInKey() {
    return core.codec.epochInKey();
  }

  @Override
  public boolean carriesEpoch(String key, WeightEpoch epoch) {
    return core.codec.epochInKey() && key.startsWith(new String(core.codec.prefix(epoch), US_ASCII));
  }

  @Override
  public List<String> doubts() {
    List<String> doubts = new ArrayList<>(core.backend.doubts());
    doubts.addAll(core.backend.unprovable());
    int blocks = core.quarantined.count() + staging.inDoubt();
    if (blocks > 0) doubts.add(blocks + " failed transfers of this store may still be running in native code");
    return doubts;
  }

  private static MemorySegment column(Arena call, long value) {
    return call.allocateFrom(ValueLayout.JAVA_LONG, value);
  }
}
