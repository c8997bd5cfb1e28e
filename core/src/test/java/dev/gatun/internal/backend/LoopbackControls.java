package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.LoopbackC;
import dev.gatun.nativelib.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * What tests do to the embedded library: faults, a virtual clock, limits, mutants, masters that go down. Process-wide;
 * call {@link #reset} before and after each test that uses any of it. Points and what the actions mean there are listed
 * in {@code native/abi/gatun_loopback.h}.
 */
public final class LoopbackControls {
  /** What an armed point does. */
  public enum Action {
    /** Waits; the argument is milliseconds. */
    DELAY(1),
    /** Answers the argument. */
    FAIL(2),
    /** Waits until released. */
    HANG(3),
    /** Leaves out what comes next. */
    SKIP(4);

    private final int code;

    Action(int code) {
      this.code = code;
    }
  }

  private static final Duration WAIT_MAX = Duration.ofSeconds(20);
  private static final long POLL_NANOS = 1_000_000;

  private LoopbackControls() {}

  /** Binds this process to the embedded library, which every call here does first. */
  public static void bind() {
    LibraryBinding.bind(StoreOptions.loopback("controls", 0), path -> NativeLibraries.locateLoopback());
  }

  /** Disarms and releases everything, sets clock, limits and mutant back, brings every master up. */
  public static void reset() {
    bind();
    LoopbackC.gatun_loopback_reset();
  }

  /** Arms a point for its next {@code count} hits, 0 for all until disarmed. */
  public static void arm(String point, Action action, long argument, long count) {
    armAfter(point, action, argument, count, 0);
  }

  /** Arms a point, letting its first {@code after} hits pass. */
  public static void armAfter(String point, Action action, long argument, long count, long after) {
    require("arm " + point, withString(point,
        name -> LoopbackC.gatun_loopback_fault_arm_after(name, action.code, argument, count, after)));
  }

  /** Disarms a point and lets go on whoever hangs there. */
  public static void release(String point) {
    require("release " + point, withString(point, LoopbackC::gatun_loopback_fault_release));
  }

  /** {@return how often a point was hit since it was armed} */
  public static long hits(String point) {
    return require("hits " + point, withString(point, LoopbackC::gatun_loopback_fault_hits));
  }

  /** {@return threads that hang at a point now} */
  public static long hanging(String point) {
    return require("hanging " + point, withString(point, LoopbackC::gatun_loopback_fault_hanging));
  }

  /** Waits until that many threads hang at a point. */
  public static void awaitHanging(String point, long threads) {
    await(threads + " threads at " + point, () -> hanging(point), threads);
  }

  /** {@return the names of all points} */
  public static List<String> points() {
    bind();
    List<String> points = new ArrayList<>();
    for (int i = 0;; i++) {
      MemorySegment name = LoopbackC.gatun_loopback_fault_point(i);
      if (name.address() == 0) return points;
      points.add(text(name));
    }
  }

  /** Lets a pool answer again. */
  public static void masterUp(String pool) {
    master(pool, LoopbackC.GATUN_LOOPBACK_MASTER_UP());
  }

  /** Lets a pool refuse everything with -900. */
  public static void masterDown(String pool) {
    master(pool, LoopbackC.GATUN_LOOPBACK_MASTER_DOWN());
  }

  /** Lets a pool answer nothing until it is up again. */
  public static void masterFrozen(String pool) {
    master(pool, LoopbackC.GATUN_LOOPBACK_MASTER_FROZEN());
  }

  /** Waits until that many calls hang in a frozen master. */
  public static void awaitMasterHanging(String pool, long calls) {
    await(calls + " calls in the frozen master " + pool,
        () -> require("master hanging", withString(pool, LoopbackC::gatun_loopback_master_hanging)), calls);
  }

  /** Loses all keys of a pool, counters included, as a master's restart does. */
  public static void masterRestart(String pool) {
    require("restart " + pool, withString(pool, LoopbackC::gatun_loopback_master_restart));
  }

  /** Loses the objects of one client's segment. */
  public static void segmentLost(String pool, String hostname) {
    require("segment lost", withString(pool,
        name -> withString(hostname, host -> LoopbackC.gatun_loopback_segment_lost(name, host))));
  }

  /** Moves the clock that leases, pins and abandoned puts see. */
  public static void advanceClock(Duration time) {
    bind();
    require("clock", LoopbackC.gatun_loopback_clock_advance(time.toMillis()));
  }

  /** Sets how long a read protects an object. */
  public static void lease(Duration time) {
    bind();
    require("lease", LoopbackC.gatun_loopback_lease_set(time.toMillis()));
  }

  /** Sets how long a soft pin lasts. */
  public static void softPin(Duration time) {
    bind();
    require("soft pin", LoopbackC.gatun_loopback_soft_pin_set(time.toMillis()));
  }

  /** Sets after which time an abandoned put may be taken over. */
  public static void putDiscard(Duration time) {
    bind();
    require("put discard", LoopbackC.gatun_loopback_put_discard_set(time.toMillis()));
  }

  /** Sets the share of capacity above which eviction starts. */
  public static void watermark(int percent) {
    bind();
    require("watermark", LoopbackC.gatun_loopback_watermark_set(percent));
  }

  /** Switches on a known wrong behaviour, 0 for none. */
  public static void mutant(int id) {
    bind();
    require("mutant " + id, LoopbackC.gatun_loopback_mutant(id));
  }

  /** {@return how many mutants there are, ids 1 to this} */
  public static int mutants() {
    bind();
    return LoopbackC.gatun_loopback_mutant_count();
  }

  /** {@return the name of a mutant} */
  public static String mutantName(int id) {
    bind();
    MemorySegment name = LoopbackC.gatun_loopback_mutant_name(id);
    if (name.address() == 0) throw new IllegalArgumentException("no mutant " + id);
    return text(name);
  }

  /** {@return native stores alive in this process} */
  public static long liveStores() {
    bind();
    return LoopbackC.gatun_loopback_live_stores();
  }

  /** {@return native engines alive in this process} */
  public static long liveEngines() {
    bind();
    return LoopbackC.gatun_loopback_live_engines();
  }

  /** {@return native transfer batches alive in this process} */
  public static long liveBatches() {
    bind();
    return LoopbackC.gatun_loopback_live_batches();
  }

  private static void master(String pool, int state) {
    require("master " + pool, withString(pool, name -> LoopbackC.gatun_loopback_master_set(name, state)));
  }

  private static void await(String what, LongSupplier figure, long wanted) {
    Deadline deadline = Deadline.after(WAIT_MAX);
    while (figure.getAsLong() != wanted) {
      if (deadline.reached()) throw new AssertionError(what + ": " + figure.getAsLong() + " after " + WAIT_MAX);
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private interface Call {
    long apply(MemorySegment text);
  }

  private static long withString(String text, Call call) {
    bind();
    try (Arena arena = Arena.ofConfined()) { // per call
      return call.apply(arena.allocateFrom(text));
    }
  }

  private static String text(MemorySegment name) {
    return name.reinterpret(256).getString(0);
  }

  private static long require(String what, long code) {
    if (code < 0) throw new IllegalStateException(what + ": " + code);
    return code;
  }
}
