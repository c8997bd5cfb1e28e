package dev.gatun.store;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/** Calls that move one value to or from the caller's own memory: convenient, copying, allocating. */
final class Singles {
  // 64 MiB: a question to the master costs far less than so much memory; unmeasured default
  private static final long ASK_BYTES = 64L << 20;

  private final StoreCore core;
  private final Staging staging;
  private final LocalBufferShare localBuffer;
  private final int headerBytes;

  Singles(StoreCore core, Staging staging, LocalBufferShare localBuffer) {
    this.core = core;
    this.staging = staging;
    this.localBuffer = localBuffer;
    headerBytes = core.codec.headerBytes();
  }

  PutResult put(KvKey key, MemorySegment value, ReplicateOptions options) {
    long objectBytes = headerBytes + requireBytes("value", value);
    localBuffer.requireRoom(objectBytes);
    return run("put", activity -> {
      int ticket = core.enter("put", 1);
      try {
        localBuffer.acquire(objectBytes, Deadline.after(core.policy.parkMax()));
        try {
          return putStaged(key, value, objectBytes, options, ticket);
        } finally {
          localBuffer.release(objectBytes);
        }
      } finally {
        core.gate.exit(ticket);
      }
    });
  }

  /**
   * Native code never reads the value where it lies: it may be on the heap, or in a mapped file that is cut short, which
   * ends a process in native code and which Java survives. Not every view of such a file can be told from other memory.
   */
  private PutResult putStaged(KvKey key, MemorySegment value, long objectBytes, ReplicateOptions options, int ticket) {
    Staging.Buffer buffer = staging.take(objectBytes);
    try (Arena call = Arena.ofConfined()) { // per call
      copyInto(buffer, value);
      if (headerBytes > 0) {
        Stamp stamp = new Stamp(core.codec, buffer.memory(), call);
        stamp.epoch(core.gate.epoch(ticket));
        stamp.encode(0, key.hash(), value.byteSize());
        stamp.copyTo(0);
      }
      return send(key, buffer.memory(), objectBytes, options, ticket);
    } finally {
      staging.giveBack(buffer); // the library copies the value before it answers
    }
  }

  private void copyInto(Staging.Buffer buffer, MemorySegment value) {
    try {
      MemorySegment.copy(value, 0, buffer.memory(), headerBytes, value.byteSize());
    } catch (InternalError fault) {
      throw new IllegalArgumentException("value cannot be read: the file it is mapped from was cut short", fault);
    }
  }

  private PutResult send(KvKey key, MemorySegment object, long objectBytes, ReplicateOptions options, int ticket) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment encoded = core.encode(key, core.gate.epoch(ticket), call);
      MemorySegment placement = core.backend.encodeReplicate(options, call);
      long started = System.nanoTime();
      core.keysSent.incrementAndGet();
      int code = core.backend.put(encoded, object, objectBytes, placement);
      long nanos = System.nanoTime() - started;
      if (code == 0) {
        core.failedKeys.remove(key.hash());
        core.observer.onPut(1, 0, 0, objectBytes - headerBytes, nanos);
        return new PutResult.Stored();
      }
      boolean present = code == StoreCode.OBJECT_ALREADY_EXISTS.raw();
      core.observer.onPut(0, present ? 1 : 0, present ? 0 : 1, 0, nanos);
      if (present) return new PutResult.AlreadyPresent();
      return new PutResult.PutFailed(code > 0 ? StoreCode.UNKNOWN : StoreCode.of(code), code,
          core.segmentLimit.detail(key, objectBytes, code));
    }
  }

  GetResult get(KvKey key, MemorySegment target) {
    long objectBytes = headerBytes + requireBytes("target", target);
    if (target.isReadOnly()) throw new IllegalArgumentException("target must be writable: " + target);
    return run("get", activity -> {
      while (true) {
        int ticket = core.enterOrPark("get", 1, activity);
        if (ticket == StoreCore.DISABLED) return new GetResult.Miss();
        try {
          WeightEpoch epoch = core.gate.epochIfCurrent(ticket);
          if (epoch != null) return getInside(key, target, objectBytes, ticket, epoch);
        } finally {
          core.gate.exit(ticket);
        }
      }
    });
  }

  private GetResult getInside(KvKey key, MemorySegment target, long objectBytes, int ticket, WeightEpoch epoch) {
    long failed = core.failedKeys.rawCode(key.hash());
    if (failed != FailedKeys.NONE) {
      core.observer.onSkip("failed-key", 1);
      return new GetResult.GetFailed(StoreCode.of(failed), failed);
    }
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment encoded = core.encode(key, epoch, call);
      return getStaged(key, encoded, target, stagedBytes(encoded, objectBytes), ticket, epoch, call);
    }
  }

  /** {@return room for the value: whoever offers all the memory there is does not want as much again} */
  private long stagedBytes(MemorySegment encoded, long roomBytes) {
    if (roomBytes <= ASK_BYTES) return roomBytes;
    long bytes = core.backend.size(encoded);
    // absent, failed or too large: the get says so whatever its room
    return bytes <= ASK_BYTES || bytes > roomBytes ? ASK_BYTES : bytes;
  }

  private GetResult getStaged(KvKey key, MemorySegment encoded, MemorySegment target, long objectBytes, int ticket,
      WeightEpoch epoch, Arena call) {
    Staging.Buffer buffer = staging.take(objectBytes);
    boolean doubtful = false;
    try {
      long started = System.nanoTime();
      long answer = core.backend.get(encoded, buffer.memory(), objectBytes);
      long nanos = System.nanoTime() - started;
      doubtful = Outcome.leavesNativeRunning(answer);
      long outcome = answer < 0 ? answer : judge(key, buffer.memory(), answer, objectBytes, ticket, epoch, call);
      observe(outcome, nanos);
      if (outcome > 0) copyOut(buffer, target, outcome);
      if (outcome == StoreCode.TRANSFER_FAIL.raw()) core.failedKeys.add(key.hash(), outcome);
      return result(outcome);
    } finally {
      if (doubtful) staging.doubt(buffer);
      else
        staging.giveBack(buffer);
    }
  }

  private void copyOut(Staging.Buffer buffer, MemorySegment target, long bytes) {
    try {
      MemorySegment.copy(buffer.memory(), headerBytes, target, 0, bytes);
    } catch (InternalError fault) {
      throw new IllegalArgumentException(
          "target cannot be written: the file it is mapped from was cut short, or its disk is full", fault);
    }
  }

  private long judge(KvKey key, MemorySegment object, long arrivedBytes, long roomBytes, int ticket, WeightEpoch epoch,
      Arena call) {
    if (!core.gate.isCurrent(ticket)) return Outcome.of(Rejection.STALE);
    if (arrivedBytes == 0) return Outcome.of(Rejection.EMPTY);
    if (arrivedBytes > roomBytes) return Outcome.of(Rejection.TORN);
    if (headerBytes == 0) return arrivedBytes;
    Stamp stamp = new Stamp(core.codec, object, call);
    stamp.epoch(epoch);
    Rejection reason = stamp.check(0, key.hash(), arrivedBytes);
    return reason == null ? arrivedBytes - headerBytes : Outcome.of(reason);
  }

  private void observe(long outcome, long nanos) {
    boolean miss = outcome == StoreCode.OBJECT_NOT_FOUND.raw();
    boolean expired = outcome == StoreCode.LEASE_EXPIRED.raw();
    boolean rejected = Outcome.isRejection(outcome);
    boolean hit = outcome > 0;
    core.observer.onGet(hit ? 1 : 0, miss ? 1 : 0, expired ? 1 : 0, rejected ? 1 : 0,
        hit || miss || expired || rejected ? 0 : 1, Math.max(0, outcome), nanos);
  }

  static GetResult result(long outcome) {
    if (outcome > 0) return new GetResult.Hit(outcome);
    if (outcome == StoreCode.OBJECT_NOT_FOUND.raw()) return new GetResult.Miss();
    Rejection reason = Outcome.rejection(outcome);
    if (reason != null) return new GetResult.Rejected(reason);
    long rawCode = Outcome.rawCode(outcome);
    return new GetResult.GetFailed(StoreCode.of(rawCode), rawCode);
  }

  private <T> T run(String operation, Function<Activity, T> call) {
    return core.activities.run(operation, 1, call);
  }

  private static long requireBytes(String field, MemorySegment segment) {
    if (segment.byteSize() == 0) throw new IllegalArgumentException(field + " must not be empty");
    if (!segment.scope().isAlive()) throw new IllegalStateException(field + " must be alive: its arena was closed");
    if (!segment.isAccessibleBy(Thread.currentThread())) {
      throw new IllegalArgumentException(field + " must be of an arena that this thread, "
          + Thread.currentThread().getName() + ", may use: it is of a confined one of another thread");
    }
    return segment.byteSize();
  }
}
