package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One refit of a group to one epoch, shared by all brackets that were begun for it. Its work is done by one thread at a
 * time, whose turn it is; the others wait and find it done.
 */
final class RefitRun {
  private final RefitGroup group;
  private final RefitPolicy policy;
  private final WeightEpoch epoch;
  private final WeightEpoch previous;
  private final List<Member> members;
  private final ReentrantLock turn = new ReentrantLock();
  private final Steps steps = new Steps();
  private final List<String> notes = new ArrayList<>();
  private final Clearing clearing;
  private final long startNanos = System.nanoTime();
  private final Deadline firstDeadline;
  // guarded by turn
  private boolean drained;
  private boolean anyOpened;
  private long verdictNanos;
  private volatile @Nullable Verdict verdict;
  private volatile RefitReport report;
  // guarded by the group
  private final List<Holder> holders = new ArrayList<>();

  /** Closes the gates of all members. */
  RefitRun(RefitGroup group, RefitPolicy policy, WeightEpoch epoch, List<Member> members) {
    this.group = group;
    this.policy = policy;
    this.epoch = epoch;
    this.members = members;
    previous = members.getFirst().gate().epoch();
    firstDeadline = Deadline.after(policy.deadline());
    clearing = new Clearing(group, policy, epoch, members, steps, notes);
    steps.time("close gate", () -> {
      members.forEach(member -> member.control().close());
      return members.size() + " closed";
    });
    report = describe(Verdict.failed("clear() has not been called"));
  }

  WeightEpoch epoch() {
    return epoch;
  }

  /** Whether somebody is in a bracket of it, and may be loading weights; called with the group locked. */
  boolean held() {
    return !holders.isEmpty();
  }

  /** Whether it succeeded, so that beginning it again finds it done. */
  boolean succeeded() {
    Verdict now = verdict;
    return now != null && policy.accepts(now.outcome());
  }

  /** Makes a bracket for one replica, or for all; called with the group locked. */
  Refit hold(@Nullable RefitCoordinator who) {
    List<Member> held = members.stream().filter(member -> who == null || member.coordinator() == who).toList();
    if (held.isEmpty()) {
      throw new IllegalStateException(
          "this replica joined after the refit to " + epoch + "; it takes part in the next");
    }
    Holder holder = new Holder(held);
    holders.add(holder);
    held.forEach(member -> member.hold(holder));
    return new Refit(this, holder);
  }

  /** Raises the epoch and drains, once. */
  void drain() {
    turn.lock();
    try {
      if (drained) return;
      clearing.raise();
      clearing.drain(Lane.half(firstDeadline));
      drained = true;
      report = describe(Verdict.failed("clear() has not been called"));
    } finally {
      turn.unlock();
    }
  }

  RefitReport clear() {
    turn.lock();
    try {
      if (verdict == null) {
        // whoever took long to call gets half of the deadline still
        Deadline least = Deadline.after(policy.deadline().dividedBy(2));
        judge(clearing.run(firstDeadline.later(least)));
      }
      return report;
    } finally {
      turn.unlock();
    }
  }

  RefitReport open(Holder holder) {
    turn.lock();
    try {
      synchronized (group) {
        if (holder.closed()) throw new IllegalStateException("open refused: this bracket was closed before");
        holder.wantOpen();
      }
      if (verdict == null) judge(Verdict.failed("open() was called without clear(): nothing was removed"));
      if (holder.members().stream().allMatch(this::settled)) return report;
      lookAgain();
      steps.time("open", () -> openGates(holder.members()));
      return end(holder.members());
    } finally {
      turn.unlock();
    }
  }

  void close(Holder holder) {
    turn.lock();
    try {
      List<Member> abandoned;
      synchronized (group) {
        if (holder.closed()) return;
        if (holders.size() == 1 && verdict == null) {
          judge(Verdict.failed("the bracket was left without clear(): nothing was removed"));
        }
        abandoned = holder.members().stream().filter(member -> member.release(holder)).toList();
        if (policy.onFailure() == OnFailure.DISABLE_STORE) abandoned.forEach(Member::disable);
        holder.close();
        holders.remove(holder);
      }
      if (verdict == null || abandoned.isEmpty()) return;
      notes.add("a bracket was left without open()");
      end(abandoned);
    } finally {
      turn.unlock();
    }
  }

  RefitReport report() {
    return report;
  }

  /** What was proved must still hold; attempts that are left are spent on it while no gate is open. */
  private void lookAgain() {
    if (!succeeded()) return;
    Verdict now = clearing.lookAgain(verdict(), anyOpened);
    if (now.equals(verdict())) return;
    judge(!anyOpened && clearing.mayRetry() ? clearing.run(Deadline.after(policy.deadline())) : now);
  }

  /** Nothing that open() does would change anything any more. */
  private boolean settled(Member member) {
    return member.ended() && (member.gate().state() == EpochGate.State.OPEN || !succeeded());
  }

  /** Opens as far as verdict, policy and the other brackets of the same replica let it. */
  private String openGates(List<Member> opening) {
    boolean disable = !succeeded() && policy.onFailure() == OnFailure.DISABLE_STORE;
    int opened = 0;
    int waiting = 0;
    synchronized (group) {
      for (Member member : opening) {
        if (disable) member.disable();
        else if (succeeded() && member.open()) opened++;
        else
          waiting++;
      }
    }
    anyOpened |= opened > 0;
    if (!succeeded()) return "refused, on_failure is " + policy.onFailure().word();
    return opened + " opened" + (waiting == 0
        ? ""
        : ", " + waiting + " stay closed: another bracket is, or was left, "
            + "without open()");
  }

  private Verdict verdict() {
    return Objects.requireNonNull(verdict);
  }

  private void judge(Verdict now) {
    if (clearing.attempts() > 0) group.judged(verdict == null, clearing.takeRemoved());
    verdict = now;
    verdictNanos = System.nanoTime() - startNanos;
    report = describe(now);
  }

  /** Counts the refit for replicas that are done with it. */
  private RefitReport end(List<Member> ending) {
    report = describe(verdict());
    for (Member member : ending) {
      boolean done = !succeeded() || member.gate().state() != EpochGate.State.CLOSED || member.holders() == 0;
      if (!done) continue;
      boolean first = member.end();
      member.coordinator().ended(report, member.takeRemoved(), first).ifPresent(notes::add);
    }
    report = describe(verdict());
    return report;
  }

  private RefitReport describe(Verdict now) {
    return new RefitReport(epoch, previous, now.outcome(), policy.accepts(now.outcome()), now.reasons(), notes,
        clearing.attempts(), clearing.removed(), group.resets(), group.removed(), verdictNanos, steps.list(),
        members.stream().map(Member::report).toList(),
        clearing.traces().stream().map(trace -> trace.report(policy.leftoversMax())).toList());
  }
}
