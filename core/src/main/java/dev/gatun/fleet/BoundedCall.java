package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** A native call on a thread of its own, which whoever waits for it can leave behind. */
final class BoundedCall<T> {
  private final String what;
  private final CompletableFuture<T> answer;

  private BoundedCall(String what, CompletableFuture<T> answer) {
    this.what = what;
    this.answer = answer;
  }

  static <T> BoundedCall<T> start(String what, Supplier<T> work) {
    return new BoundedCall<>(what, CompletableFuture.supplyAsync(work,
        task -> Thread.ofPlatform().daemon().name("gatun-fleet-" + what).start(task)));
  }

  /** Waits; throws what the call threw, or a {@link DeadlineException}. */
  T await(Deadline deadline) {
    try {
      return answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new DeadlineException(what + " did not return by the deadline");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeadlineException(what + " was waited for until the thread was interrupted");
    } catch (ExecutionException | CancellationException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      if (e.getCause() instanceof Error cause) throw cause;
      throw new IllegalStateException(what, e);
    }
  }

  /** Whether it came back, or threw. */
  boolean ended() {
    return answer.isDone();
  }
}
