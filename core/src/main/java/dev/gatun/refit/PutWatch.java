package dev.gatun.refit;

import dev.gatun.backend.StoreCensus.Reading;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds puts of clients that no gate here stops: what a master counted from one refit to the next, less all that our
 * stores have sent. A client may rest during a refit and still put old pages after it; this is what gives it away.
 */
final class PutWatch {
  private record Mark(Reading reading, Map<StorePort, Long> sent) {}

  private final Map<String, Mark> marks = new HashMap<>();
  // what stores that left have sent since the mark
  private final Map<String, Long> departed = new HashMap<>();

  /** Starts a new span, with all our puts ended. */
  void mark(String master, Reading reading, Collection<StorePort> ours) {
    Map<StorePort, Long> sent = new HashMap<>();
    for (StorePort port : ours) sent.put(port, port.store().keysSent());
    marks.put(master, new Mark(reading, sent));
    departed.remove(master);
  }

  /** Starts a new span while our puts may be under way: all that our stores ever sent will count as ours. */
  void markLoosely(String master, Reading reading) {
    marks.put(master, new Mark(reading, Map.of()));
    departed.remove(master);
  }

  boolean marked(String master) {
    return marks.containsKey(master);
  }

  /** A store leaves; what it has sent so far was ours. */
  void depart(StorePort port) {
    Mark mark = marks.get(port.master());
    if (mark != null) departed.merge(port.master(), sentSince(mark, port), Long::sum);
  }

  /** Puts since the mark that are certainly not ours; -1 without a mark. */
  long foreign(String master, Reading now, Collection<StorePort> ours) {
    Mark mark = marks.get(master);
    if (mark == null) return -1;
    // a master that started anew counts from 0
    long base = mark.reading.startId().equals(now.startId()) ? mark.reading.putStarts() : 0;
    long sent = departed.getOrDefault(master, 0L);
    for (StorePort port : ours) sent += sentSince(mark, port);
    return Math.max(0, now.putStarts() - base - sent);
  }

  private static long sentSince(Mark mark, StorePort port) {
    return port.store().keysSent() - mark.sent.getOrDefault(port, 0L);
  }
}
