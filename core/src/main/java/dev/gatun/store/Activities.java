package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Everything that may be running on one store. Starting and ending an operation does not touch this set. */
final class Activities {
  // 100 us: well over a context switch, far below any wait that a person notices; unmeasured default
  private static final long POLL_NANOS = 100_000;

  private final Set<Activity> members = ConcurrentHashMap.newKeySet();
  private volatile boolean closing;

  /** Adds the activity of a new batch or call, which may use some registered memory. */
  Activity open(String what, @Nullable Object memory) {
    Activity activity = new Activity(this, memory);
    members.add(activity);
    if (closing) {
      members.remove(activity);
      throw new ClosedException(what + " refused: the store is closed");
    }
    return activity;
  }

  /** Runs one call that stands for itself. */
  <T> T run(String operation, int keys, Function<Activity, T> call) {
    Activity activity = open(operation, null);
    try {
      activity.begin(operation, keys);
      try {
        return call.apply(activity);
      } finally {
        activity.end();
      }
    } finally {
      members.remove(activity);
    }
  }

  /** Runs something that moves no pages: closing the store waits for it, a refit does not. */
  <T> T runAside(String what, Supplier<T> call) {
    Activity activity = open(what, null);
    try {
      activity.beginAside(what);
      try {
        return call.get();
      } finally {
        activity.end();
      }
    } finally {
      members.remove(activity);
    }
  }

  void forget(Activity activity) {
    members.remove(activity);
  }

  /** Lets nothing begin any more. An operation that began before is seen by {@link #awaitNone}. */
  void close() {
    closing = true;
  }

  boolean closing() {
    return closing;
  }

  /** {@return operations that may be using this memory now} */
  int runningOn(Object memory) {
    return (int) members.stream().filter(activity -> activity.runningOn(memory)).count();
  }

  /**
   * Waits until each activity has been seen once without a chosen operation. One that begins later does not count: the
   * caller has shut the door before, so that it can only be on its way to being refused.
   *
   * @return those never seen without until the deadline, in words
   */
  List<String> awaitNone(Predicate<Activity> chosen, Deadline deadline) {
    List<Activity> left = new ArrayList<>(members);
    left.removeIf(chosen.negate());
    while (!left.isEmpty() && !deadline.reached()) {
      LockSupport.parkNanos(this, POLL_NANOS);
      left.removeIf(chosen.negate());
    }
    return left.stream().map(Activity::toString).toList();
  }
}
