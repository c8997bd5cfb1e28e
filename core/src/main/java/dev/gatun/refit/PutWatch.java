package dev.gatun.refit;

import dev.gatun.backend.StoreCensus.Reading;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds puts of clients that no gate here stops: what a master counted from one refit to the next, less all that our
 * stores have sent. A client may rest during a refit and still put old pages after it; this is what gives it away. Each
 * store's census is held against its own earlier readings only. Guarded by the refit's turn or the group.
 */
final class PutWatch {
  private static final class Span {
    private final Reading reading;
    private final Map<StorePort, Long> sentBefore;
    private long sentByLeavers;

    private Span(Reading reading, Map<StorePort, Long> sentBefore) {
      this.reading = reading;
      this.sentBefore = sentBefore;
    }

    private long sent(StorePort port) {
      return port.store().keysSent() - sentBefore.getOrDefault(port, 0L);
    }
  }

  private final Map<StorePort, Span> spans = new HashMap<>();

  /**
   * Starts a new span, with all our puts ended.
   *
   * @param reading by this store's census
   * @param ours all our stores at the same master
   */
  synchronized void mark(StorePort port, Reading reading, Collection<StorePort> ours) {
    Map<StorePort, Long> sent = new HashMap<>();
    for (StorePort each : ours)
      sent.put(each, each.store().keysSent());
    spans.put(port, new Span(reading, sent));
  }

  /** Starts a new span while our puts may be under way: all that our stores ever sent will count as ours. */
  synchronized void markLoosely(StorePort port, Reading reading) {
    spans.put(port, new Span(reading, Map.of()));
  }

  synchronized boolean marked(StorePort port) {
    return spans.containsKey(port);
  }

  /** A store leaves; what it has sent so far was ours. */
  synchronized void depart(StorePort port) {
    spans.remove(port);
    spans.forEach((other, span) -> {
      if (other.master().equals(port.master())) span.sentByLeavers += span.sent(port);
    });
  }

  /** Puts since the mark that are certainly not ours; -1 without a mark. */
  synchronized long foreign(StorePort port, Reading now, Collection<StorePort> ours) {
    Span span = spans.get(port);
    if (span == null) return -1;
    // a master that started anew counts from 0
    long base = span.reading.startId().equals(now.startId()) ? span.reading.putStarts() : 0;
    long sent = span.sentByLeavers;
    for (StorePort each : ours)
      sent += span.sent(each);
    return Math.max(0, now.putStarts() - base - sent);
  }
}
