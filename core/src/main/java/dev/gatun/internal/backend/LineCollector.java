package dev.gatun.internal.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Takes the first lines of a response body and then hangs up, however long the body is. */
final class LineCollector implements Flow.Subscriber<String> {
  private final int limit;
  private final List<String> lines = new ArrayList<>();
  private final CompletableFuture<List<String>> done = new CompletableFuture<>();
  private Flow.@Nullable Subscription subscription;

  LineCollector(int limit) {
    this.limit = limit;
  }

  /** {@return the lines, once there are enough of them or no more} */
  CompletableFuture<List<String>> lines() {
    return done;
  }

  @Override
  public void onSubscribe(Flow.Subscription to) {
    subscription = to;
    if (limit == 0) finish(to);
    else
      to.request(1);
  }

  @Override
  public void onNext(String line) {
    Flow.Subscription from = subscription;
    if (from == null) return;
    lines.add(line);
    if (lines.size() == limit) finish(from);
    else
      from.request(1);
  }

  @Override
  public void onError(Throwable reason) {
    done.completeExceptionally(reason);
  }

  @Override
  public void onComplete() {
    done.complete(List.copyOf(lines));
  }

  private void finish(Flow.Subscription from) {
    done.complete(List.copyOf(lines));
    from.cancel();
  }
}
