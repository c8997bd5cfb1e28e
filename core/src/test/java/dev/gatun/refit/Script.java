package dev.gatun.refit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** What happens at named points of a scripted store or census, hit by hit; nothing once a point's script is used up. */
final class Script {
  private final Map<String, Deque<Supplier<OptionalLong>>> actions = new HashMap<>();
  private final Map<String, Integer> hits = new HashMap<>();

  /** At the next hit that has no action yet: runs this, then goes on as usual. */
  Script does(String point, Runnable action) {
    return add(point, () -> {
      action.run();
      return OptionalLong.empty();
    });
  }

  /** At the next hit that has no action yet: answers this code and does nothing. */
  Script answers(String point, long code) {
    return add(point, () -> OptionalLong.of(code));
  }

  /** Lets one hit pass. */
  Script passes(String point) {
    return does(point, () -> {});
  }

  /** At the next hit that has no action yet: hangs until the latch falls, then answers this code. */
  Script hangs(String point, CountDownLatch until, long code) {
    return add(point, () -> {
      try {
        until.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return OptionalLong.of(code);
    });
  }

  OptionalLong hit(String point) {
    Supplier<OptionalLong> action;
    synchronized (this) {
      hits.merge(point, 1, Integer::sum);
      Deque<Supplier<OptionalLong>> queue = actions.get(point);
      action = queue == null ? null : queue.poll();
    }
    return action == null ? OptionalLong.empty() : action.get();
  }

  synchronized int hits(String point) {
    return hits.getOrDefault(point, 0);
  }

  private synchronized Script add(String point, Supplier<OptionalLong> action) {
    actions.computeIfAbsent(point, key -> new ArrayDeque<>()).add(action);
    return this;
  }
}
