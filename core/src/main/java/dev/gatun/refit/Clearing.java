package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreCensus.Reading;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitPolicy.OtherClients;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The work of one refit with the gates closed: drains, clears, and judges. Touched with the run's turn held. */
final class Clearing {
  private static final Deadline REACHED = new Deadline(System.nanoTime());

  private final RefitGroup group;
  private final RefitPolicy policy;
  private final WeightEpoch epoch;
  private final List<Member> members;
  private final Steps steps;
  private final List<String> notes;
  // what an attempt saw of other clients stays true in the next one
  private final List<String> seenOfOthers = new ArrayList<>();
  private final List<String> unforgotten = new ArrayList<>();
  private List<StoreTrace> traces = List.of();
  private int attempts;
  private long removed;
  private long taken;

  Clearing(RefitGroup group, RefitPolicy policy, WeightEpoch epoch, List<Member> members, Steps steps,
      List<String> notes) {
    this.group = group;
    this.policy = policy;
    this.epoch = epoch;
    this.members = members;
    this.steps = steps;
    this.notes = notes;
  }

  List<StoreTrace> traces() {
    return traces;
  }

  int attempts() {
    return attempts;
  }

  long removed() {
    return removed;
  }

  /** Objects removed since this was last asked. */
  long takeRemoved() {
    long since = removed - taken;
    taken = removed;
    return since;
  }

  void raise() {
    steps.time("raise epoch", () -> {
      long raised = members.stream().filter(member -> !member.gate().epoch().equals(epoch))
          .peek(member -> member.control().raise(epoch)).count();
      return raised + " of " + members.size() + " raised";
    });
  }

  void drain(Deadline until) {
    steps.time("drain", () -> {
      Deadline inner = Lane.inner(until);
      Map<Member, Lane.Call<Member.Quiet>> calls = new LinkedHashMap<>();
      for (Member member : members) {
        calls.put(member, member.coordinator().lane().start("drain", () -> Member.drain(member.gate(), inner)));
      }
      int failed = 0;
      int pending = 0;
      for (Map.Entry<Member, Lane.Call<Member.Quiet>> entry : calls.entrySet()) {
        Answer<Member.Quiet> answer = entry.getValue().await(until);
        Member.Quiet quiet = answer.value().orElseGet(() -> new Member.Quiet(0, List.of(answer.problem())));
        entry.getKey().pending(quiet.pending());
        failed += quiet.failed();
        pending += quiet.pending().size();
      }
      return failed + " queued failed, " + (pending == 0 ? "all quiet" : pending + " not quiet");
    });
  }

  void clearLocal(Deadline until) {
    steps.time("clear local", () -> {
      unforgotten.clear();
      Map<Member, Lane.Call<List<String>>> calls = new LinkedHashMap<>();
      for (Member member : members) {
        calls.put(member, member.coordinator().lane().start("clearLocal", () -> Member.clearLocal(member.gate())));
      }
      calls.forEach((member, call) -> call.await(until).then(unforgotten::addAll,
          problem -> unforgotten.add(member.name() + ": " + problem)));
      return unforgotten.isEmpty() ? "done" : String.join("; ", unforgotten);
    });
  }

  /** Attempts until the policy is content or the attempts are used up. */
  Verdict run(Deadline first) {
    int max = policy.onFailure() == OnFailure.RETRY ? policy.attemptsMax() : 1;
    long waitNanos = policy.backOff().toNanos();
    Verdict verdict = attempt(first);
    while (!policy.accepts(verdict.outcome()) && attempts < max && !Thread.currentThread().isInterrupted()) {
      long wait = waitNanos;
      steps.time("back off", () -> {
        LockSupport.parkNanos(this, wait);
        return TimeUnit.NANOSECONDS.toMillis(wait) + " ms";
      });
      waitNanos *= 2;
      verdict = attempt(Deadline.after(policy.deadline()));
    }
    dropTroubled();
    return verdict;
  }

  boolean mayRetry() {
    return policy.onFailure() == OnFailure.RETRY && attempts < policy.attemptsMax();
  }

  private Verdict attempt(Deadline deadline) {
    attempts++;
    if (members.stream().anyMatch(member -> !member.pending().isEmpty())) drain(Lane.half(deadline));
    clearLocal(Lane.half(deadline));
    traces = members.stream()
        .flatMap(member -> member.ports().stream().map(port -> new StoreTrace(port, member))).toList();
    new Attempt(policy, epoch, traces.stream().filter(StoreTrace::registered).toList(), deadline, steps).run();
    for (StoreTrace trace : traces) {
      removed += trace.removed;
      trace.member().removed(trace.removed);
    }
    Verdict.judge(traces, epoch);
    List<String> others = watchOthers();
    List<StoreTrace> counting = excuse();
    Verdict verdict = Verdict.of(counting, general(), raised());
    others.forEach(line -> seenOfOthers.add("attempt " + attempts + " saw " + line));
    return verdict;
  }

  /**
   * Looks once more, right before the gate opens; weights may have taken minutes to load.
   *
   * @param anyOpened whether replicas put new pages already, so that only puts of others can be looked for
   * @return the verdict if nothing has changed, or what it has become
   */
  Verdict lookAgain(Verdict verdict, boolean anyOpened) {
    List<StoreTrace> looked = traces.stream().filter(trace -> !trace.excused()).toList();
    List<StoreTrace> uncleared = uncleared();
    if (!uncleared.isEmpty()) return Verdict.of(uncleared, verdict.reasons(), raised());
    if (verdict.outcome() != RefitOutcome.VERIFIED || looked.isEmpty()) return verdict;
    Deadline deadline = Deadline.after(policy.deadline());
    steps.time("look again", () -> {
      Deadline inner = Lane.inner(deadline);
      Map<StoreTrace, Lane.Call<Reading>> calls = new LinkedHashMap<>();
      for (StoreTrace trace : looked) {
        calls.put(trace, trace.port().lane().start("census", () -> trace.port().read(inner)));
      }
      calls.forEach((trace, call) -> call.await(deadline).then(reading -> compare(trace, reading, anyOpened),
          problem -> trace.unproven("before opening: " + problem)));
      long same = looked.stream().filter(StoreTrace::sound).count();
      return same + " of " + looked.size() + " still empty";
    });
    if (looked.stream().allMatch(StoreTrace::sound)) return verdict;
    return Verdict.of(looked, List.of(), raised());
  }

  /** Stores that were opened since the removal, at a master that no other one saw empty. */
  private List<StoreTrace> uncleared() {
    List<StoreTrace> uncleared = new ArrayList<>();
    for (Member member : members) {
      for (StorePort port : member.ports()) {
        StoreTrace trace = new StoreTrace(port, member);
        boolean known = traces.stream().anyMatch(old -> old.port() == port || old.standsFor(trace));
        if (known) continue;
        trace.unremoved("it was opened after the removal, which did not reach its objects");
        uncleared.add(trace);
      }
    }
    return uncleared;
  }

  private void compare(StoreTrace trace, Reading now, boolean anyOpened) {
    Reading last = Objects.requireNonNull(trace.after);
    StorePort port = trace.port();
    long puts = group.watch().foreign(port, now, sharing(port));
    if (!Verdict.sameMaster(last, now)) {
      trace.unproven("the master changed between verdict and opening");
    } else if (puts > 0) {
      trace.unproven(puts + " puts by other clients between verdict and opening");
      seenOfOthers.add("before opening: " + puts + " puts by other clients");
    }
    if (anyOpened) return;
    trace.after = now;
    if (now.keyCount() != 0) trace.unremoved(now.keyCount() + " objects came between verdict and opening");
    group.watch().mark(port, now, sharing(port));
  }

  /** Leaves out a store that was closed, or hangs in a group, if another store saw its master empty. */
  private List<StoreTrace> excuse() {
    List<StoreTrace> counting = new ArrayList<>();
    for (StoreTrace trace : traces) {
      boolean closed = !trace.registered();
      boolean stands = traces.stream().anyMatch(other -> other.standsFor(trace));
      if (stands && (closed || (trace.hung && !group.solo()))) {
        trace.excuse();
        if (closed) trace.member().coordinator().forget(trace.port());
        notes.add(trace.port().name() + (closed ? " was closed" : " did not answer")
            + "; its master was seen empty through another store");
      } else {
        if (closed) trace.unremoved("the store was closed, and nobody else saw its master empty");
        counting.add(trace);
      }
    }
    if (traces.isEmpty()) notes.add("no store: nothing to remove");
    return counting;
  }

  private List<String> general() {
    List<String> general = new ArrayList<>(seenOfOthers);
    for (Member member : members) {
      for (String line : member.pending())
        general.add(member.name() + " still has calls inside: " + line);
    }
    general.addAll(group.stragglers());
    general.addAll(unforgotten);
    if (policy.otherClients() == OtherClients.UNFENCED) {
      general.add("other clients put into the same master, and nobody stops them");
    }
    return general;
  }

  /** Holds the masters' counts of puts against what our stores sent since the last look; says what is too much. */
  private List<String> watchOthers() {
    PutWatch watch = group.watch();
    boolean quiet = members.stream().allMatch(member -> member.pending().isEmpty());
    List<String> seen = new ArrayList<>();
    for (StoreTrace trace : traces) {
      Reading after = trace.after;
      if (after == null) continue;
      StorePort port = trace.port();
      if (!watch.marked(port)) port.firstLook(REACHED).ifPresent(reading -> watch.markLoosely(port, reading));
      long before = watch.foreign(port, after, sharing(port)) - Math.max(0, trace.foreignPuts);
      if (policy.otherClients() == OtherClients.NONE && before > 0) {
        String line = before + " puts by other clients since the last refit, whom no barrier holds";
        trace.unproven(line);
        seen.add(line);
      }
      if (trace.foreignPuts > 0) seen.add(trace.foreignPuts + " puts by other clients");
      if (quiet) watch.mark(port, after, sharing(port));
      else
        watch.markLoosely(port, after);
    }
    return seen.stream().distinct().toList();
  }

  private List<StorePort> sharing(StorePort port) {
    return traces.stream().map(StoreTrace::port).filter(other -> other.master().equals(port.master())).toList();
  }

  private boolean raised() {
    return members.stream().allMatch(member -> member.gate().ordinal() > 0);
  }

  /** A replica in trouble leaves, unless all are: then the trouble is not its own. */
  private void dropTroubled() {
    if (group.solo() || members.stream().noneMatch(this::fine)) return;
    for (Member member : members) {
      List<String> troubles = new ArrayList<>(member.pending());
      for (StoreTrace trace : traces) {
        if (trace.member() == member && trace.excused() && !replaced(trace))
          troubles.add(trace.port().name() + " was closed or hangs");
      }
      if (!troubles.isEmpty()) {
        member.leave(String.join("; ", troubles));
        group.drop(member.coordinator(), member.left());
      }
    }
  }

  /** Whether the replica has closed this store and has another at the same master. */
  private boolean replaced(StoreTrace trace) {
    return !trace.registered() && traces.stream()
        .anyMatch(other -> other.member() == trace.member() && other.standsFor(trace));
  }

  private boolean fine(Member member) {
    return member.pending().isEmpty() && traces.stream().anyMatch(trace -> trace.member() == member)
        && traces.stream().filter(trace -> trace.member() == member).allMatch(StoreTrace::sound);
  }
}
