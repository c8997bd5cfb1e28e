package dev.gatun.internal.backend;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends messages on threads of its own, one a peer: with a peer that has died the call takes up to a minute, and holds up
 * no other.
 */
final class NoticeSender {
  private static final Logger LOG = LoggerFactory.getLogger(NoticeSender.class);

  private final ThreadPoolExecutor threads;
  private final Map<Integer, Queue<Delivery>> waiting = new HashMap<>(); // guarded by this
  private volatile boolean closed;

  /** How a message stands. */
  static final class Delivery {
    private final Runnable call;
    private volatile int state;

    Delivery(Runnable call) {
      this.call = call;
    }

    boolean isOver() {
      return state != 0;
    }

    boolean delivered() {
      return state > 0;
    }

    private void run(boolean refused) {
      try {
        if (!refused) call.run();
        state = refused ? -1 : 1;
      } catch (RuntimeException | Error e) { // the thread goes on with what is behind it
        LOG.warn("a message was not delivered: {}", e.toString());
      } finally {
        if (!isOver()) state = -1;
      }
    }
  }

  NoticeSender(String name) {
    // a thread that is idle is used again for 10 s; unmeasured default
    threads = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
        Thread.ofPlatform().daemon().name("gatun-notify " + name + ' ', 0).factory());
  }

  /** Takes a call that sends to a peer, after all others for that peer. */
  synchronized Delivery send(int target, Runnable call) {
    Delivery delivery = new Delivery(call);
    Queue<Delivery> queue = waiting.get(target);
    if (queue == null) {
      try {
        threads.execute(() -> sendAll(target)); // it begins after this method's end
      } catch (RejectedExecutionException e) {
        delivery.state = -1;
        return delivery;
      } catch (Error noThread) {
        LOG.warn("a message was not delivered: {}", noThread.toString());
        delivery.state = -1;
        return delivery;
      }
      queue = new ArrayDeque<>();
      waiting.put(target, queue);
    }
    queue.add(delivery);
    return delivery;
  }

  private void sendAll(int target) {
    for (Delivery next = next(target); next != null; next = next(target))
      next.run(closed);
  }

  private synchronized @Nullable Delivery next(int target) {
    Queue<Delivery> queue = waiting.get(target);
    Delivery next = queue == null ? null : queue.poll();
    if (next == null) waiting.remove(target);
    return next;
  }

  /** What waits is not sent any more. */
  void close() {
    closed = true;
    threads.shutdown();
  }
}
