package dev.gatun.refit;

import dev.gatun.backend.StoreCensus.Reading;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one store answered in one attempt, and what that leaves to be desired. Touched by one thread only. */
final class StoreTrace {
  private final StorePort port;
  private final Member member;
  private final List<String> unproven = new ArrayList<>();
  private final List<String> unremoved = new ArrayList<>();
  private final List<Canary> canaries = new ArrayList<>();
  private int plantings;
  private boolean excused;
  @Nullable
  Reading before;
  @Nullable
  Reading planted;
  @Nullable
  Reading after;
  List<String> listed = List.of();
  long ofNewEpoch;
  boolean canaryGone;
  boolean hung;
  boolean passed;
  int passes;
  long removed;
  long foreignPuts = -1;

  StoreTrace(StorePort port, Member member) {
    this.port = port;
    this.member = member;
  }

  StorePort port() {
    return port;
  }

  Member member() {
    return member;
  }

  /** Whether the store is open: only then does its gate hold its puts. */
  boolean registered() {
    return member.registered(port);
  }

  /** Its answers, or their lack, do not count. */
  void excuse() {
    excused = true;
  }

  boolean excused() {
    return excused;
  }

  /** Whether this store saw the master of the other one empty, beyond doubt. */
  boolean standsFor(StoreTrace other) {
    return other != this && registered() && !hung && sound() && after != null && after.keyCount() == 0
        && port.master().equals(other.port.master());
  }

  /**
   * Whether objects that were there before bear keys of the new epoch. After a pass that was answered they cannot: then
   * somebody at the new epoch has put them since.
   */
  boolean epochUsedBefore() {
    return ofNewEpoch > 0 && !passed;
  }

  /** The proof has a gap. */
  void unproven(String reason) {
    unproven.add(port.name() + ": " + reason);
  }

  /** Something old is there, or nothing was done about it. */
  void unremoved(String reason) {
    unremoved.add(port.name() + ": " + reason);
  }

  boolean sound() {
    return unproven.isEmpty() && unremoved.isEmpty();
  }

  List<String> unproven() {
    return unproven;
  }

  List<String> unremoved() {
    return unremoved;
  }

  List<Canary> canaries() {
    return canaries;
  }

  boolean canarySeen() {
    return canaries.stream().anyMatch(Canary::seen);
  }

  boolean canaryWantsSpace() {
    return !canaries.isEmpty() && canaries.stream().allMatch(Canary::noSpace);
  }

  /** A canary is about to be put; whether it arrives is another matter. */
  void planting() {
    plantings++;
  }

  /** Fewest put starts that the canaries of this attempt caused: those that the store acknowledged. */
  long putStartsMin() {
    return canaries.stream().filter(Canary::planted).count();
  }

  /** Most put starts that the canaries of this attempt caused: each planting, answered or not. */
  long putStartsMax() {
    return plantings;
  }

  String canaryText() {
    if (canaries.isEmpty()) return plantings == 0 ? "not put" : "unanswered";
    Canary last = canaries.getLast();
    if (last.noSpace()) return "none: no space";
    if (!last.planted()) return "refused: " + Codes.text(last.code());
    if (!last.seen()) return "never seen";
    return canaryGone ? "seen, then gone" : "seen";
  }

  RefitReport.Store report(int leftoversMax) {
    return new RefitReport.Store(member.name(), port.name(), port.master(), passes, removed, canaryText(),
        after == null ? -1 : after.keyCount(), foreignPuts, listed.stream().limit(leftoversMax).toList());
  }
}
