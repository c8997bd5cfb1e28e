package dev.gatun.transfer;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that polls what nobody waits for: futures, and flights in doubt. Started when first needed. */
final class Poller implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
  // 5 ms: flights in doubt hold memory, not callers; unmeasured default
  private static final long PATIENT_NANOS = 5_000_000;
  // longest pause with nothing to do; a new job ends it
  private static final long IDLE_NANOS = 1_000_000_000;

  private final String name;
  private final Queue<Job> arrived = new ConcurrentLinkedQueue<>();
  // guarded by this
  private @Nullable Thread thread;
  private boolean ended;

  /** Something to be looked at until it is over. */
  interface Job {
    /** {@return whether it is over} */
    boolean step();

    /** {@return whether somebody waits for it} */
    boolean urgent();
  }

  Poller(String name) {
    this.name = name;
  }

  synchronized void add(Job job) {
    arrived.add(job);
    if (thread == null) thread = Thread.ofPlatform().daemon().name("gatun-transfer " + name).start(this);
    LockSupport.unpark(thread);
  }

  /** Lets the thread end once nothing is left to look at; what is added after this is looked at all the same. */
  synchronized void end() {
    ended = true;
    LockSupport.unpark(thread);
  }

  /** Under the lock of {@link #add}: what it adds finds a thread or starts one. */
  private synchronized boolean ends(List<Job> jobs) {
    if (!ended || !jobs.isEmpty() || !arrived.isEmpty()) return false;
    thread = null;
    return true;
  }

  @Override
  public void run() {
    List<Job> jobs = new ArrayList<>();
    Backoff backoff = new Backoff();
    while (!ends(jobs)) {
      for (Job job = arrived.poll(); job != null; job = arrived.poll()) {
        jobs.add(job);
        backoff.reset();
      }
      boolean over = jobs.removeIf(Poller::step);
      if (over) backoff.reset();
      else if (jobs.isEmpty()) LockSupport.parkNanos(this, IDLE_NANOS);
      else if (jobs.stream().anyMatch(Job::urgent)) backoff.pause(Long.MAX_VALUE);
      else
        LockSupport.parkNanos(this, PATIENT_NANOS);
    }
  }

  private static boolean step(Job job) {
    try {
      return job.step();
    } catch (RuntimeException | Error e) { // the others go on
      LOG.error("a transfer is given up: {}", job, e);
      return true;
    }
  }
}
