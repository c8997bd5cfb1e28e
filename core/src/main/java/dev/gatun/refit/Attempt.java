package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreCensus.Reading;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.GatunKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * One removal and what can be seen of it, over all stores at once: each phase ends for all before the next begins, so
 * that a baseline precedes every canary and a removal follows them all. A store that hangs loses its own proof only: a
 * phase takes at most half of the time that is left.
 */
final class Attempt {
  private final RefitPolicy policy;
  private final WeightEpoch epoch;
  private final List<StoreTrace> traces;
  private final Deadline deadline;
  private final Steps steps;

  Attempt(RefitPolicy policy, WeightEpoch epoch, List<StoreTrace> traces, Deadline deadline, Steps steps) {
    this.policy = policy;
    this.epoch = epoch;
    this.traces = traces;
    this.deadline = deadline;
    this.steps = steps;
  }

  void run() {
    steps.time("baseline", this::baseline);
    steps.time("canary", () -> plant(trace -> true));
    steps.time("witness", this::witness);
    steps.time("remove", this::remove);
    if (traces.stream().anyMatch(StoreTrace::canaryWantsSpace)) {
      steps.time("late canary", () -> plant(StoreTrace::canaryWantsSpace));
      if (traces.stream().anyMatch(StoreTrace::canarySeen)) steps.time("remove again", this::remove);
    }
    steps.time("verify", this::verify);
  }

  private record Baseline(List<String> uncounted, Reading reading) {}

  private String baseline() {
    each("doubts", half(), trace -> true, (trace, until) -> trace.port().store().doubts(),
        (trace, doubts) -> doubts.forEach(trace::unproven), StoreTrace::unproven);
    each("census", half(), trace -> trace.port().hasCensus(),
        (trace, until) -> new Baseline(trace.port().uncounted(until), trace.port().read(until)), (trace, baseline) -> {
          baseline.uncounted().forEach(trace::unproven);
          trace.before = baseline.reading();
        }, (trace, problem) -> trace.unproven("the census could not be read: " + problem));
    traces.stream().filter(trace -> !trace.port().hasCensus()).forEach(trace -> trace.unproven(
        "no census: without the master's counters, puts in flight cannot be seen"));
    return traces.stream().filter(trace -> trace.before != null).count() + " of " + traces.size() + " censuses read";
  }

  private String plant(Predicate<StoreTrace> who) {
    traces.stream().filter(who).forEach(StoreTrace::planting);
    each("canary", half(), who, (trace, until) -> Canary.plant(trace.port().store(), canaryKey()),
        (trace, canary) -> trace.canaries().add(canary), (trace, problem) -> trace.unproven("canary: " + problem));
    return traces.stream().filter(StoreTrace::canarySeen).count() + " of " + traces.size() + " seen";
  }

  private String canaryKey() {
    return GatunKey.CANARY + epoch.run() + '/' + epoch.version() + '/' + UUID.randomUUID();
  }

  /** Only a census that sees the canary is a census of the store's own master. */
  private String witness() {
    each("census", half(), trace -> trace.before != null && trace.canarySeen(),
        (trace, until) -> trace.port().read(until), (trace, reading) -> trace.planted = reading,
        (trace, problem) -> trace.unproven("the census could not be read: " + problem));
    return traces.stream().filter(trace -> trace.planted != null).count() + " censuses read";
  }

  private String remove() {
    each("removeAll", half(), trace -> true,
        (trace, until) -> Removal.run(trace.port(), policy.passesMax(), until), (trace, removal) -> {
          trace.passes += removal.passes();
          trace.removed += removal.removed();
          trace.passed |= removal.passed();
          if (!removal.problem().isEmpty()) trace.unremoved(removal.problem());
        }, (trace, problem) -> {
          trace.passes++;
          trace.unremoved(problem + "; it may run late, and then tears reads that are under way");
        });
    return traces.stream().mapToLong(trace -> trace.removed).sum() + " removed";
  }

  private String verify() {
    each("verification", deadline, trace -> true,
        (trace, until) -> Look.at(trace.port(), trace.canaries(), epoch, until),
        (trace, look) -> look.into(trace), (trace, problem) -> trace.unproven("verification: " + problem));
    return traces.stream().filter(trace -> trace.after != null && trace.after.keyCount() == 0).count() + " of "
        + traces.size() + " seen empty";
  }

  /** Half of what is left: a store that hangs in this phase leaves time to say so. */
  private Deadline half() {
    return Lane.half(deadline);
  }

  /** Calls every store concerned at once, on its own lane, and waits for all to one deadline. */
  private <T> void each(String what, Deadline until, Predicate<StoreTrace> who,
      BiFunction<StoreTrace, Deadline, T> work, BiConsumer<StoreTrace, T> answered,
      BiConsumer<StoreTrace, String> problem) {
    Deadline inner = Lane.inner(until);
    Map<StoreTrace, Lane.Call<T>> calls = new LinkedHashMap<>();
    for (StoreTrace trace : traces) {
      if (who.test(trace)) calls.put(trace, trace.port().lane().start(what, () -> work.apply(trace, inner)));
    }
    calls.forEach((trace, call) -> {
      Answer<T> answer = call.await(until);
      trace.hung |= answer.pending();
      answer.then(value -> answered.accept(trace, value), text -> problem.accept(trace, text));
    });
  }
}
