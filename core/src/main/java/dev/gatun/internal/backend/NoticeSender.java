package dev.gatun.internal.backend;

import dev.gatun.backend.GatunException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends messages on threads of its own: with a peer that has died the call takes up to a minute. */
final class NoticeSender {
  private static final Logger LOG = LoggerFactory.getLogger(NoticeSender.class);
  // a few dead peers must not hold up the others; unmeasured default
  private static final int THREADS = 4;

  private final ThreadPoolExecutor threads;

  /** How a message stands. */
  static final class Delivery {
    private volatile int state;

    boolean isOver() {
      return state != 0;
    }

    boolean delivered() {
      return state > 0;
    }
  }

  NoticeSender(String name) {
    threads = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("gatun-notify " + name + ' ', 0).factory());
    threads.allowCoreThreadTimeOut(true);
  }

  Delivery send(Runnable call) {
    Delivery delivery = new Delivery();
    try {
      threads.execute(() -> {
        try {
          call.run();
          delivery.state = 1;
        } catch (GatunException | IllegalArgumentException e) {
          LOG.warn("a message was not delivered: {}", e.getMessage());
        } finally {
          if (!delivery.isOver()) delivery.state = -1;
        }
      });
    } catch (RejectedExecutionException closed) {
      delivery.state = -1;
    }
    return delivery;
  }

  /** What waits is not sent any more. */
  void close() {
    threads.shutdown();
  }
}
