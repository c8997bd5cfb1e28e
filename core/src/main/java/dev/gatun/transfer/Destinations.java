package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import java.util.Arrays;

/**
 * The segments that a batch's requests go to, by place, and their counts of requests in flight: requests to one segment
 * that stand side by side are counted in at once. Serves one thread at a time.
 */
final class Destinations {
  private final Segment[] segments;

  Destinations(int capacity) {
    segments = new Segment[capacity];
  }

  void set(int index, Segment segment) {
    segments[index] = segment;
  }

  void clear(int count) {
    Arrays.fill(segments, 0, count, null);
  }

  /** Counts requests in, all or none. */
  void reserve(int count) {
    int next;
    for (int i = 0; i < count; i = next) {
      next = runEnd(i, count);
      try {
        segments[i].reserve(next - i);
      } catch (TooManyRequestsException | ClosedException refused) {
        release(i);
        throw refused;
      }
    }
  }

  void release(int count) {
    int next;
    for (int i = 0; i < count; i = next) {
      next = runEnd(i, count);
      segments[i].release(next - i);
    }
  }

  /** {@return what does {@link #release} later, whatever is in the batch by then} */
  Runnable releaseLater(int count) {
    Segment[] counted = Arrays.copyOf(segments, count);
    return () -> {
      for (Segment segment : counted)
        segment.release(1);
    };
  }

  @SuppressWarnings("ReferenceEquality") // one segment is one object
  private int runEnd(int first, int count) {
    int next = first + 1;
    while (next < count && segments[next] == segments[first])
      next++;
    return next;
  }

  /** {@return the name of the first, which stands for all in a log line} */
  @Override
  public String toString() {
    Segment first = segments[0];
    return first == null ? "nobody" : first.name();
  }
}
