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
  private int holders;
  private boolean superseded;

  /** One bracket. */
  static final class Holder {
    private final List<Member> members;
    private boolean closed;

    Holder(List<Member> members) {
      this.members = members;
    }
  }

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
      members.forEach(member -> member.gate().close());
      return members.size() + " closed";
    });
    report = describe(Verdict.failed("clear() has not been called"));
  }

  WeightEpoch epoch() {
    return epoch;
  }

  boolean judged() {
    return verdict != null;
  }

  /** Whether the same epoch again is this refit: while it runs, and once it succeeded. */
  boolean joinable() {
    Verdict now = verdict;
    return now == null || policy.accepts(now.outcome());
  }

  /** A later refit begins; called with the group locked. */
  void supersede() {
    superseded = true;
  }

  /** Makes a bracket for one replica, or for all; called with the group locked. */
  Refit hold(@Nullable RefitCoordinator who) {
    List<Member> held = members.stream().filter(member -> who == null || member.coordinator() == who).toList();
    if (held.isEmpty()) {
      throw new IllegalStateException("this replica joined after the refit to " + epoch + "; it takes part in the next");
    }
    holders++;
    held.forEach(Member::hold);
    return new Refit(this, new Holder(held));
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
        judge(clearing.run(firstDeadline.atNanos() - least.atNanos() > 0 ? firstDeadline : least));
      }
      return report;
    } finally {
      turn.unlock();
    }
  }

  RefitReport open(Holder holder) {
    turn.lock();
    try {
      if (holder.closed) throw new IllegalStateException("this bracket was closed");
      if (verdict == null) judge(Verdict.failed("open() was called without clear(): nothing was removed"));
      if (holder.members.stream().allMatch(this::settled)) return report;
      settle();
      boolean accepted = policy.accepts(verdict().outcome());
      steps.time("open", () -> {
        if (!openGates(holder.members, accepted)) {
          throw new IllegalStateException("a later refit has begun; this one to " + epoch + " is over");
        }
        return accepted ? "gate open" : "refused: on_failure " + policy.onFailure().word();
      });
      end(holder.members);
      return report;
    } finally {
      turn.unlock();
    }
  }

  void close(Holder holder) {
    turn.lock();
    try {
      if (holder.closed) return;
      holder.closed = true;
      boolean last;
      List<Member> abandoned;
      synchronized (group) {
        last = --holders == 0;
        abandoned = holder.members.stream().filter(Member::release).filter(member -> !member.ended()).toList();
      }
      if (last && verdict == null) judge(Verdict.failed("the bracket was left without clear(): nothing was removed"));
      if (verdict == null || abandoned.isEmpty()) return;
      notes.add("a bracket was left without open()");
      openGates(abandoned, false);
      end(abandoned);
    } finally {
      turn.unlock();
    }
  }

  RefitReport report() {
    return report;
  }

  /** While nobody has opened, what was proved must still hold; attempts that are left are spent on it. */
  private void settle() {
    if (anyOpened || verdict().outcome() != RefitOutcome.VERIFIED) return;
    Verdict now = clearing.lookAgain(verdict());
    if (!now.equals(verdict()) && clearing.mayRetry()) now = clearing.run(Deadline.after(policy.deadline()));
    if (!now.equals(verdict())) judge(now);
  }

  /** Nothing that open() does would change anything any more. */
  private boolean settled(Member member) {
    return member.ended() && (member.gate().state() == EpochGate.State.OPEN || !policy.accepts(verdict().outcome()));
  }

  /**
   * Opens as far as the policy goes. Under the group's lock, so that a refit that begins meanwhile is either seen here,
   * which answers false, or closes the gates again.
   */
  private boolean openGates(List<Member> opening, boolean accepted) {
    synchronized (group) {
      if (superseded) return false;
      for (Member member : opening) {
        if (!member.left().isEmpty()) continue;
        if (accepted) member.gate().open(EpochGate.State.OPEN);
        else if (policy.onFailure() == OnFailure.DISABLE_STORE) member.gate().open(EpochGate.State.DISABLED);
      }
    }
    anyOpened |= accepted;
    return true;
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

  private void end(List<Member> ending) {
    report = describe(verdict());
    for (Member member : ending) {
      boolean first = member.end();
      member.coordinator().ended(report, member.takeRemoved(), first).ifPresent(notes::add);
    }
    report = describe(verdict());
  }

  private RefitReport describe(Verdict now) {
    return new RefitReport(epoch, previous, now.outcome(), policy.accepts(now.outcome()), now.reasons(), notes,
      clearing.attempts(), clearing.removed(), group.resets(), group.removed(), verdictNanos, steps.list(),
      members.stream().map(Member::report).toList(),
      clearing.traces().stream().map(trace -> trace.report(policy.leftoversMax())).toList());
  }
}
