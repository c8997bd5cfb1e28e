package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A thread for calls that may never come back: whoever waits for them gives up at a deadline, and the thread stays
 * behind. Calls run one after another. The thread is a daemon and ends when idle.
 */
final class Lane {
  private final ThreadPoolExecutor executor;
  private volatile String running = "";

  Lane(String name) {
    // 1 s idle: longer than the gaps within a refit, shorter than those between two; unmeasured
    executor = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        task -> Thread.ofPlatform().daemon().name("gatun-refit-" + name).unstarted(task));
    executor.allowCoreThreadTimeOut(true);
  }

  /** Half of what is left: what hangs in one phase leaves time for the next, and to say so. */
  static Deadline half(Deadline deadline) {
    return Deadline.after(Duration.ofNanos(deadline.remainingNanos() / 2));
  }

  /** A little before: a call that keeps its own deadline gets its answer through to whoever waits for it. */
  static Deadline inner(Deadline deadline) {
    return Deadline.after(Duration.ofNanos(deadline.remainingNanos() / 10 * 9));
  }

  /** What runs now, empty when nothing does. */
  String running() {
    return running;
  }

  <T> Call<T> start(String what, Callable<T> work) {
    return new Call<>(this, what, executor.submit(() -> {
      running = what;
      try {
        return work.call();
      } finally {
        running = "";
      }
    }));
  }

  /** A call that was started. */
  record Call<T>(Lane lane, String what, Future<T> future) {

    /** Waits, to the deadline; a call that has not begun by then never will. */
    Answer<T> await(Deadline deadline) {
      try {
        return Answer.of(future.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS));
      } catch (ExecutionException e) {
        return Answer.threw(e.getCause() == null ? e : e.getCause());
      } catch (TimeoutException e) {
        return unanswered("did not return by the deadline");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return unanswered("was waited for until the thread was interrupted");
      }
    }

    private Answer<T> unanswered(String how) {
      // not interrupting: native code does not notice, and Java around it must not see a half-done call
      future.cancel(false);
      String now = lane.running();
      return Answer.pending(now.isEmpty() || now.equals(what)
          ? what + ' ' + how
          : what + " waited behind " + now + ", which " + how);
    }
  }
}
