package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.FinishedTransfers.Save;
import dev.gatun.connector.P2pPlan.Offer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What prefill holds for decode, by transfer id. Each offer ends exactly once, in the log. Any thread. */
final class Offers {
  // 10,000: as many as decode can have given up before their offers come, or as may be offered anew by a router that
  // tries again; older ones run into their deadline
  private static final int REMEMBERED_MAX = 10_000;

  private final String name;
  private final TransferLog log;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, Held> held = new HashMap<>();
  /** What decode gave up before it was offered. */
  private final RecentIds givenUp = new RecentIds(REMEMBERED_MAX);
  /** What was offered and has ended: a transfer takes place once. */
  private final RecentIds over = new RecentIds(REMEMBERED_MAX);
  private boolean closed;

  /** An offer, and whether somebody hands it over just now. */
  static final class Held {
    final Offer offer;
    private final Deadline expiry;
    private int users;
    private volatile @Nullable String ending;

    Held(Offer offer, Deadline expiry) {
      this.offer = offer;
      this.expiry = expiry;
    }

    /** Whether it ends as soon as nobody uses it. */
    boolean isEnding() {
      return ending != null;
    }
  }

  Offers(String name, TransferLog log) {
    this.name = name;
    this.log = log;
  }

  void add(Offer offer, Deadline expiry) {
    log.beginSave();
    lock.lock();
    try {
      String refusal = refusal(offer.transferId());
      if (!refusal.isEmpty()) {
        log.end(new Save(name, offer.request(), offer.number(), offer.count(), refusal));
        return;
      }
      held.put(offer.transferId(), new Held(offer, expiry));
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private String refusal(String transferId) {
    if (closed) return "the connector is closed";
    if (givenUp.contains(transferId)) return "transfer " + transferId + " was given up before it was offered";
    if (over.contains(transferId)) return "transfer " + transferId + " is over";
    return held.containsKey(transferId) ? "transfer " + transferId + " is offered already" : "";
  }

  /** Waits for an offer and uses it. {@return null if it does not come, was given up, or is ending} */
  @Nullable
  Held use(String transferId, Deadline deadline) {
    lock.lock();
    try {
      while (!closed && !givenUp.contains(transferId) && !over.contains(transferId)) {
        Held found = held.get(transferId);
        if (found != null) {
          if (found.ending != null) return null;
          found.users++;
          return found;
        }
        if (deadline.reached()) return null;
        changed.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
      }
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Ends a use. */
  void leave(Held used) {
    lock.lock();
    try {
      used.users--;
      if (used.users == 0 && used.ending != null) ended(used, used.ending);
      expire(); // its time may have come while it was in use
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends an offer once nobody uses it; with an empty reason it was handed over. */
  void end(Held ending, String reason) {
    lock.lock();
    try {
      if (ending.ending == null) ending.ending = reason;
      if (ending.users == 0) ended(ending, ending.ending);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Decode gave up: ends the offer, or lets it end once it comes. */
  void forget(String transferId) {
    lock.lock();
    try {
      Held found = held.get(transferId);
      if (found != null) {
        end(found, "decode gave it up");
        return;
      }
      if (!over.contains(transferId)) givenUp.add(transferId);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends what nobody has asked for in time. */
  void expire() {
    endAll(offer -> offer.expiry.reached() && offer.users == 0, "no decode asked for it in time");
  }

  /** Waits until all has ended, or a deadline; what nobody asks for ends on the way. {@return whether all has} */
  boolean awaitEnd(Deadline deadline) {
    while (true) {
      expire();
      if (log.awaitSaves(nextExpiry(deadline))) return true;
      if (deadline.reached() || Thread.currentThread().isInterrupted()) return false;
    }
  }

  /** The time at which the next of those that nobody uses expires, if it comes before a deadline. */
  private Deadline nextExpiry(Deadline deadline) {
    lock.lock();
    try {
      return held.values().stream().filter(offer -> offer.users == 0).map(offer -> offer.expiry)
          .filter(expiry -> expiry.remainingNanos() < deadline.remainingNanos())
          .min(Comparator.comparingLong(Deadline::remainingNanos)).orElse(deadline);
    } finally {
      lock.unlock();
    }
  }

  /** Ends everything; {@return how many} */
  int endAll(String reason) {
    return endAll(offer -> true, reason);
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      endAll("the connector is closed");
    } finally {
      lock.unlock();
    }
  }

  private int endAll(Predicate<Held> which, String reason) {
    lock.lock();
    try {
      List<Held> ending = new ArrayList<>(held.values().stream().filter(which).toList());
      ending.forEach(offer -> end(offer, reason));
      return ending.size();
    } finally {
      lock.unlock();
    }
  }

  private void ended(Held offer, String reason) {
    if (!held.remove(offer.offer.transferId(), offer)) return;
    over.add(offer.offer.transferId());
    log.end(new Save(name, offer.offer.request(), offer.offer.number(), reason.isEmpty() ? 0 : offer.offer.count(),
        reason));
  }
}
