package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What one batch or one single call is doing, for exclusion and for reports. Its owner changes it; anybody may look.
 * Allocates nothing after construction.
 */
final class Activity {
  private static final int IDLE = 0;
  private static final int RUNNING = 1;
  private static final int PARKED = 2;
  private static final int ASIDE = 3;
  private static final int HANDED = 4;
  private static final int CLOSED = 5;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Activity.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Activities all;
  private final @Nullable Object memory;
  private volatile int state;
  // plain: written after the claim, read by reports only, which may show the operation before
  private String operation = "call";
  private int keys;
  private long sinceNanos;
  private Thread thread = Thread.currentThread();

  Activity(Activities all, @Nullable Object memory) {
    this.all = all;
    this.memory = memory;
  }

  /** Claims the activity for one operation of the calling thread. */
  void begin(String name, int keyCount) {
    claim(RUNNING, name, keyCount);
  }

  /** Claims it for something that moves no pages, so that a refit need not wait for it. */
  void beginAside(String name) {
    claim(ASIDE, name, 0);
  }

  private void claim(int as, String name, int keyCount) {
    if (!STATE.compareAndSet(this, IDLE, as)) throw refused(name);
    if (all.closing()) {
      state = IDLE;
      throw new ClosedException(name + " refused: the store is closed");
    }
    operation = name;
    keys = keyCount;
    thread = Thread.currentThread();
    sinceNanos = 0;
  }

  /** Tells when the native part began, for reports; until then the operation counts as just begun. */
  void nativeSince(long nanoTime) {
    sinceNanos = nanoTime;
  }

  /** Reserves it for a lane that will begin its operation. */
  void handOver(String name, int keyCount) {
    claim(HANDED, name, keyCount);
  }

  void takeBack() {
    STATE.compareAndSet(this, HANDED, IDLE);
  }

  void park() {
    state = PARKED;
  }

  void resume() {
    state = RUNNING;
  }

  void end() {
    state = IDLE;
  }

  /** Claims the activity for good. {@return false if an operation runs} */
  boolean close() {
    return state == CLOSED || STATE.compareAndSet(this, IDLE, CLOSED);
  }

  /** Refuses what must not overlap a running operation. */
  void requireIdle(String name) {
    if (state != IDLE) throw refused(name);
  }

  /** {@return whether native code may be running for it} */
  boolean running() {
    return state == RUNNING;
  }

  /** {@return whether native code may be using this memory for it} */
  boolean runningOn(Object registered) {
    return state == RUNNING && registered.equals(memory);
  }

  /** {@return whether an operation runs, waits or does something aside} */
  boolean busy() {
    int now = state;
    return now != IDLE && now != CLOSED;
  }

  private RuntimeException refused(String name) {
    if (state == CLOSED) return new ClosedException(name + " refused: the batch is closed");
    return new IllegalStateException(name + " refused: " + this + "; a batch serves one thread at a time");
  }

  @Override
  public String toString() {
    double seconds = sinceNanos == 0 ? 0 : (System.nanoTime() - sinceNanos) / 1e9;
    String what = switch (state) {
      case PARKED -> " waiting for a refit";
      case HANDED -> " waiting for a lane";
      default -> "";
    };
    return String.format(Locale.ROOT, "%s of %d keys for %.1f s on thread %s%s", operation, keys, seconds,
        thread.getName(), what);
  }
}
