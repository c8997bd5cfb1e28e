package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.GatunException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that nobody waits for. Each peer has a thread of its own while there is something for it, so that one that
 * answers nothing holds up no other; its messages go out in order, each tried a few times.
 */
final class Outbox {
  private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);
  /** Most messages that wait for one peer; more than the hand-overs with one peer at a time. Unmeasured default. */
  static final int WAITING_MAX = 4_096;
  /** How often delivery is tried: with the pauses a second and a half, beyond what the transport itself waits. */
  static final int TRIES_MAX = 5;
  // doubled each time; unmeasured default
  private static final long PAUSE_NANOS = 100_000_000;

  private final ExecutorService threads;
  private final Delivery delivery;
  private final Map<String, Deque<HandoverMessage>> waiting = new HashMap<>();

  /** How a message reaches a peer. */
  interface Delivery {
    /** Blocks for a round trip, with a peer that answers nothing for the library's time-outs. */
    void deliver(String peer, HandoverMessage message);
  }

  Outbox(String name, Delivery delivery) {
    this.delivery = delivery;
    // as many as there are peers that answer nothing, and one; a thread that is idle is used again for 10 s
    threads = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
        Thread.ofPlatform().daemon().name("gatun-tell " + name + ' ', 0).factory());
  }

  /** Takes a message, and does not wait. One that cannot be taken or delivered is logged, and lost. */
  synchronized void send(String peer, HandoverMessage message) {
    Deque<HandoverMessage> queue = waiting.get(peer);
    if (queue != null && queue.size() >= WAITING_MAX) {
      undelivered(peer, message, WAITING_MAX + " messages wait for it");
      return;
    }
    if (queue == null) {
      try {
        threads.execute(() -> deliverAll(peer)); // it begins after this method's end
      } catch (RejectedExecutionException e) {
        undelivered(peer, message, "the hand-overs are closed");
        return;
      } catch (Error e) {
        undelivered(peer, message, "no thread: " + e); // whoever sends has other messages to look after
        return;
      }
      queue = new ArrayDeque<>();
      waiting.put(peer, queue);
    }
    queue.add(message);
  }

  private static void undelivered(String peer, HandoverMessage message, @Nullable String reason) {
    LOG.warn("{} was not told {} of hand-over {}: {}", peer, message.kind(), message.id(), reason);
  }

  /** Takes no more; what waits is still delivered. */
  void close() {
    threads.shutdown();
  }

  /** {@return whether nothing waits or is being delivered} */
  synchronized boolean isEmpty() {
    return waiting.isEmpty();
  }

  private void deliverAll(String peer) {
    for (HandoverMessage next = next(peer); next != null; next = next(peer))
      deliver(peer, next);
  }

  /** The queue stays while its last message is being delivered, so that the next one goes behind it. */
  private synchronized @Nullable HandoverMessage next(String peer) {
    Deque<HandoverMessage> queue = waiting.get(peer);
    HandoverMessage next = queue == null ? null : queue.poll();
    if (next == null) waiting.remove(peer);
    return next;
  }

  private void deliver(String peer, HandoverMessage message) {
    long pause = PAUSE_NANOS;
    for (int left = TRIES_MAX - 1;; left--) {
      try {
        delivery.deliver(peer, message);
        return;
      } catch (RuntimeException | Error e) { // the thread goes on with what is behind it
        boolean again = left > 0 && e instanceof GatunException && !(e instanceof ClosedException);
        if (!again) {
          undelivered(peer, message, e.toString());
          return;
        }
        LockSupport.parkNanos(this, pause);
        pause *= 2;
      }
    }
  }
}
