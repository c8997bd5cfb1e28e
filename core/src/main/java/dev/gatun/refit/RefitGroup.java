package dev.gatun.refit;

import dev.gatun.backend.WeightEpoch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Replicas of one process that share a master, and refit behind one barrier: all gates close before the first removal,
 * and none opens before the last verification. Without it, one replica's removal tears the running gets of another, and
 * old pages that another still puts spoil any proof. Usable by any thread.
 *
 * <p>Whichever member begins closes the gates of all; the others join, at once or later, and each opens its own gate when
 * its weights are loaded. A member whose calls do not come back, or whose store was closed, leaves the group, with its
 * gate closed; {@link #join} takes it back.
 */
public final class RefitGroup {
  private final RefitPolicy policy;
  private final boolean solo;
  private final PutWatch watch = new PutWatch();
  // all below guarded by this
  private final List<RefitCoordinator> members = new ArrayList<>();
  private final Map<RefitCoordinator, String> left = new HashMap<>();
  private @Nullable RefitRun current;
  private long resets;
  private long removed;

  /**
   * Makes a group.
   *
   * @param policy for all members; their own policies rest
   * @param members one or more replicas, each in no other group, none with a refit running
   * @throws IllegalArgumentException if there is none, or one twice
   * @throws IllegalStateException if one is in another group or has a refit running
   */
  public RefitGroup(RefitPolicy policy, List<RefitCoordinator> members) {
    this(policy, false);
    if (members.isEmpty()) throw new IllegalArgumentException("members must be one or more: none");
    try {
      for (RefitCoordinator member : members)
        join(member);
    } catch (IllegalArgumentException | IllegalStateException refused) {
      members().forEach(RefitCoordinator::alone); // nobody will have this group, so nobody could leave it
      throw refused;
    }
  }

  private RefitGroup(RefitPolicy policy, boolean solo) {
    this.policy = policy;
    this.solo = solo;
  }

  static RefitGroup solo(RefitPolicy policy, RefitCoordinator member) {
    RefitGroup group = new RefitGroup(policy, true);
    group.members.add(member);
    return group;
  }

  /** {@return the members, in the order in which they joined} */
  public synchronized List<RefitCoordinator> members() {
    return List.copyOf(members);
  }

  /**
   * Begins a refit of all members; the bracket opens them all at once. Otherwise as {@link RefitCoordinator#begin}.
   *
   * @param next the epoch of the weights to come
   * @return the bracket
   * @throws IllegalArgumentException if {@code next} is missing or lower than one that was in force
   * @throws IllegalStateException if a refit to another epoch still has a bracket, or there is no member
   */
  public Refit begin(WeightEpoch next) {
    return begin(next, null);
  }

  /**
   * A whole refit of all members without weights to load: begin, clear, open.
   *
   * @param next as for {@link #begin}
   * @return the report; see {@link RefitReport#orThrow}
   * @throws IllegalArgumentException as {@link #begin}
   * @throws IllegalStateException as {@link #begin}
   */
  public RefitReport refit(WeightEpoch next) {
    try (Refit refit = begin(next)) {
      refit.clear();
      return refit.open();
    }
  }

  /**
   * Takes in a replica, from the next refit on; also one that had to leave, whose gate stays closed until then.
   *
   * @param member in no other group
   * @throws IllegalArgumentException if it is a member
   * @throws IllegalStateException if a refit is running here or there, it is in another group, or calls of it that made
   *     it leave have still not come back
   */
  public synchronized void join(RefitCoordinator member) {
    if (members.contains(member))
      throw new IllegalArgumentException("join refused: this replica is a member of this group already");
    RefitGroup from = member.group();
    if (from != this && !from.solo)
      throw new IllegalStateException("join refused: the replica is in another group; let it leave that first");
    refuseWhileRunning();
    if (from == this) {
      List<String> pending = member.unfinished();
      if (!pending.isEmpty()) throw new IllegalStateException("the replica cannot come back yet: " + pending);
      left.remove(member);
    } else {
      synchronized (from) {
        from.refuseWhileRunning();
        if (!member.group().equals(from)) throw new IllegalStateException("the replica has just joined another group");
        from.members.clear();
        member.group(this);
      }
    }
    members.add(member);
  }

  /**
   * Lets a replica go; it refits alone from then on. To the others it is one of those clients whom nobody stops, so
   * close its store first.
   *
   * @param member a member
   * @throws IllegalArgumentException if it is none
   * @throws IllegalStateException if a refit is running
   */
  public synchronized void leave(RefitCoordinator member) {
    if (solo || !members.contains(member))
      throw new IllegalArgumentException("leave refused: this replica is not a member of this group");
    refuseWhileRunning();
    members.remove(member);
    member.ports().forEach(watch::depart);
    member.alone();
  }

  Refit begin(@Nullable WeightEpoch next, @Nullable RefitCoordinator who) {
    if (next == null) throw new IllegalArgumentException("next is missing: the trainer says run and version");
    RefitRun run;
    Refit refit;
    synchronized (this) {
      if (who != null && left.containsKey(who)) {
        throw new IllegalStateException("this replica has left its group: " + left.get(who));
      }
      run = current;
      if (run == null || !run.epoch().equals(next) || !(run.held() || run.succeeded())) {
        refuseWhileRunning();
        run = start(next);
        current = run;
      }
      refit = run.hold(who);
    }
    try {
      run.drain();
    } catch (RuntimeException e) {
      refit.close();
      throw e;
    }
    return refit;
  }

  private RefitRun start(WeightEpoch next) {
    if (members.isEmpty()) throw new IllegalStateException("the group has no member left");
    for (RefitCoordinator member : members) {
      if (!member.gate().epoch().equals(next)) member.gate().checkNext(next);
    }
    List<Member> taking = new ArrayList<>();
    for (RefitCoordinator member : members) {
      taking.add(new Member(member, "replica-" + taking.size()));
    }
    return new RefitRun(this, policy, next, taking);
  }

  private void refuseWhileRunning() {
    RefitRun run = current;
    if (run != null && run.held()) {
      throw new IllegalStateException("the refit to " + run.epoch() + " still has a bracket; open and close it first");
    }
  }

  PutWatch watch() {
    return watch;
  }

  boolean solo() {
    return solo;
  }

  /** Replicas that had to leave and whose calls have not come back: they may still land a put. */
  synchronized List<String> stragglers() {
    List<String> lines = new ArrayList<>();
    for (RefitCoordinator gone : left.keySet()) {
      for (String line : gone.unfinished())
        lines.add("a replica that left still has calls inside: " + line);
    }
    return lines;
  }

  synchronized void drop(RefitCoordinator member, String reason) {
    if (members.remove(member)) left.put(member, reason);
  }

  synchronized void judged(boolean first, long objects) {
    if (first) resets++;
    removed += objects;
  }

  synchronized long resets() {
    return resets;
  }

  synchronized long removed() {
    return removed;
  }
}
