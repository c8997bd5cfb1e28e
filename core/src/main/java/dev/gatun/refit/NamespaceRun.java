package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreCensus.Reading;
import dev.gatun.backend.StoreCode;
import dev.gatun.codec.GatunKey;
import dev.gatun.codec.KeyLabel;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The work of one reset of a part of a master, which may block anywhere. */
final class NamespaceRun {
  // from one look to the next: 10 ms, doubled up to 1 s; unmeasured defaults
  private static final long WAIT_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final RefitStore store;
  private final KeyScope scope;
  private final int passesMax;
  private final Deadline deadline;
  private final NamespaceFindings found;

  NamespaceRun(RefitStore store, KeyScope scope, int passesMax, Deadline deadline, NamespaceFindings found) {
    this.store = store;
    this.scope = scope;
    this.passesMax = passesMax;
    this.deadline = deadline;
    this.found = found;
  }

  void run() {
    store.doubts().forEach(found::unproven);
    Canary canary = Canary.plant(store, scope.first() + GatunKey.CANARY + UUID.randomUUID());
    if (!canary.seen()) {
      found.unproven(canary.noSpace()
          ? "no space for a canary, so nothing shows that the removal reaches the store"
          : "the canary was not seen: " + Codes.text(canary.planted() ? canary.size() : canary.code()));
    }
    Optional<StoreCensus> census = store.census();
    if (census.isPresent()) {
      uncounted(census.get());
      clear(census.get(), canary);
    } else {
      found.unproven("no census: without the master's list and counters nothing can be seen");
      remove(List.of());
    }
    if (canary.planted()) judge(store.sizeOfCanary(canary.key()));
  }

  private void uncounted(StoreCensus census) {
    try {
      census.uncounted(deadline).forEach(found::unproven);
    } catch (GatunException unreadable) {
      found.unproven("the census could not be read: " + unreadable.getMessage());
    }
  }

  private void clear(StoreCensus census, Canary canary) {
    Optional<Moment> before = look(census);
    if (canary.seen() && before.isPresent() && !before.get().keys.contains(canary.key())) {
      found.unproven("the master's list does not show the canary: it is of another master, or lags");
    }
    boolean goesOn = remove(before.map(Moment::keys).orElse(List.of()));
    long waitNanos = WAIT_NANOS_MIN;
    for (int passes = 1; goesOn;) {
      Optional<Moment> now = look(census);
      if (now.isEmpty()) return;
      if (before.isPresent() && !Verdict.sameMaster(before.get().last, now.get().last)) {
        found.unproven("the master changed during the reset");
        return;
      }
      List<String> left = now.get().keys.stream().filter(scope::holds).toList();
      found.seen(left, now.get().keys.size() - left.size());
      if (left.isEmpty() && now.get().proves()) {
        unlisted(now.get().keys).ifPresent(found::unproven);
        return;
      }
      boolean outOfPasses = !left.isEmpty() && passes == passesMax;
      if (outOfPasses || deadline.remainingNanos() <= waitNanos) {
        if (!left.isEmpty()) found.unremoved(left.size() + " keys are left after " + passes + " passes");
        if (!now.get().proves()) found.unproven(now.get().gap());
        return;
      }
      LockSupport.parkNanos(waitNanos);
      waitNanos = Math.min(2 * waitNanos, WAIT_NANOS_MAX);
      if (left.isEmpty()) continue;
      goesOn = remove(now.get().keys);
      passes++;
    }
  }

  /**
   * Lines are not always keys: one with a line end in it is listed as two, which hides a put in flight from a comparison
   * with the master's count. Lines that are an engine's whole key need no question.
   */
  private Optional<String> unlisted(List<String> lines) {
    if (new HashSet<>(lines).size() < lines.size()) return Optional.of("the master lists a key twice");
    for (String line : lines) {
      if (!KeyLabel.of(line).model().isEmpty()) continue;
      if (deadline.reached()) return Optional.of("the time was over before each listed line was known to be a key");
      long size = store.sizeOfCanary(line);
      if (size < 0) return Optional.of("the master lists a line that is no key it knows: " + Codes.text(size));
    }
    return Optional.empty();
  }

  private Optional<Moment> look(StoreCensus census) {
    try {
      return Optional.of(Moment.of(census, deadline));
    } catch (GatunException unreadable) {
      found.unproven("the census could not be read: " + unreadable.getMessage());
      return Optional.empty();
    }
  }

  /** {@return whether it was answered} */
  private boolean remove(List<String> keys) {
    long removed = 0;
    String problem = "";
    for (String prefix : scope.prefixes(keys)) {
      if (deadline.reached()) { // a removal that comes after the report would be the worst
        problem = "the time was over before keys that begin with " + prefix + " were removed";
        break;
      }
      long count = store.removePrefixForced(prefix);
      if (count >= 0) removed += count;
      else
        problem = "removal of keys that begin with " + prefix + " failed: " + Codes.text(count);
    }
    found.pass(removed);
    if (!problem.isEmpty()) found.unremoved(problem);
    return problem.isEmpty();
  }

  private void judge(long size) {
    if (size >= 0) found.unremoved("the canary survived the removal");
    else if (size != StoreCode.OBJECT_NOT_FOUND.raw()) {
      found.unproven("asking for the canary answered " + Codes.text(size));
    }
  }

  /** A list of the master's, between two readings of its counters. */
  private record Moment(Reading first, List<String> keys, Reading last) {
    static Moment of(StoreCensus census, Deadline deadline) {
      return new Moment(census.read(deadline), census.keys(Integer.MAX_VALUE, deadline), census.read(deadline));
    }

    /** Nothing moved, and all that the master counts is listed: no put was in flight. */
    boolean proves() {
      return first.equals(last) && keys.size() == last.keyCount();
    }

    String gap() {
      return first.equals(last)
          ? "the master counts " + last.keyCount() + " objects and lists " + keys.size()
              + ": puts are in flight, and may be of this namespace"
          : "the master's counters moved whenever it was listed: a put in flight into this namespace cannot be ruled out";
    }
  }
}
