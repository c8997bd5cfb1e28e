package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits until an engine's own metrics show no request. */
final class Drained {
  private static final List<List<String>> GAUGES = List.of(
      List.of("vllm:num_requests_running", "vllm:num_requests_waiting"),
      List.of("sglang:num_running_reqs", "sglang:num_queue_reqs"));
  // a request takes longer, and a look costs the engine next to nothing; unmeasured default
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private Drained() {}

  /** {@return requests that the engine still had when the time was over, 0 for none, negative if it does not say} */
  static double await(EngineClient client, Deadline deadline) {
    while (true) {
      EngineAnswer metrics = client.get("/metrics", deadline);
      double requests = metrics.ok() ? requests(metrics.body()) : -1;
      if (requests <= 0 || deadline.remainingNanos() <= POLL_NANOS) return requests;
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  static double requests(String metrics) {
    for (List<String> names : GAUGES) {
      OptionalDouble running = sum(metrics, names.getFirst());
      OptionalDouble waiting = sum(metrics, names.getLast());
      if (running.isPresent() && waiting.isPresent()) return running.getAsDouble() + waiting.getAsDouble();
    }
    return -1;
  }

  /** Over all label sets: one server may hold several engines. */
  private static OptionalDouble sum(String metrics, String name) {
    double[] values = metrics.lines()
        .filter(line -> line.startsWith(name + '{') || line.startsWith(name + ' '))
        .mapToDouble(line -> number(line.substring(line.lastIndexOf(' ') + 1))).toArray();
    double sum = 0;
    for (double value : values)
      sum += value;
    return values.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(sum);
  }

  /** What is no number counts as a request: it is not known to be none. */
  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException other) {
      return 1;
    }
  }
}
