package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.FinishedTransfers.Save;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What waits for the transfer thread, loads first, and what it has done. Each job ends exactly once. */
final class TransferQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<LoadJob> loads = new ArrayDeque<>();
  private final Deque<SaveJob> saves = new ArrayDeque<>();
  private final int savesMax;
  private List<Load> loaded = new ArrayList<>();
  private List<Save> saved = new ArrayList<>();
  private int openLoads;
  private int openSaves;
  private boolean closed;

  TransferQueue(int savesMax) {
    this.savesMax = savesMax;
  }

  void add(LoadJob job) {
    lock.lock();
    try {
      openLoads++;
      if (closed) ended(failed(job, "the connector is closed"));
      else
        loads.add(job);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** {@return whether it waits; else it has ended as failed} */
  boolean add(SaveJob job) {
    lock.lock();
    try {
      openSaves++;
      boolean full = saves.size() >= savesMax;
      if (closed) ended(failed(job, "the connector is closed"));
      else if (full) ended(failed(job, savesMax + " saves are waiting already"));
      else
        saves.add(job);
      changed.signalAll();
      return !closed && !full;
    } finally {
      lock.unlock();
    }
  }

  /** {@return the next {@link LoadJob} or {@link SaveJob}, null once closed; waits for one} */
  @Nullable
  Record take() throws InterruptedException {
    lock.lock();
    try {
      while (loads.isEmpty() && saves.isEmpty() && !closed)
        changed.await();
      return loads.isEmpty() ? saves.poll() : loads.poll();
    } finally {
      lock.unlock();
    }
  }

  void end(Load load) {
    lock.lock();
    try {
      ended(load);
    } finally {
      lock.unlock();
    }
  }

  void end(Save save) {
    lock.lock();
    try {
      ended(save);
    } finally {
      lock.unlock();
    }
  }

  /** Ends what waits as failed. {@return how many} */
  int failWaiting(String reason) {
    lock.lock();
    try {
      int waiting = loads.size() + saves.size();
      loads.forEach(job -> ended(failed(job, reason)));
      saves.forEach(job -> ended(failed(job, reason)));
      loads.clear();
      saves.clear();
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      failWaiting("the connector is closed");
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  FinishedTransfers takeFinished() {
    lock.lock();
    try {
      if (loaded.isEmpty() && saved.isEmpty()) return FinishedTransfers.NONE;
      FinishedTransfers finished = new FinishedTransfers(loaded, saved);
      loaded = new ArrayList<>();
      saved = new ArrayList<>();
      return finished;
    } finally {
      lock.unlock();
    }
  }

  boolean awaitLoads(Deadline deadline) {
    return await(deadline, true);
  }

  boolean awaitSaves(Deadline deadline) {
    return await(deadline, false);
  }

  int open() {
    lock.lock();
    try {
      return openLoads + openSaves;
    } finally {
      lock.unlock();
    }
  }

  private boolean await(Deadline deadline, boolean forLoads) {
    lock.lock();
    try {
      while ((forLoads ? openLoads : openSaves) > 0) {
        if (deadline.reached()) return false;
        changed.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void ended(Load load) {
    openLoads--;
    loaded.add(load);
    changed.signalAll();
  }

  private void ended(Save save) {
    openSaves--;
    saved.add(save);
    changed.signalAll();
  }

  static Load failed(LoadJob job, String reason) {
    List<Integer> all = IntStream.range(job.from(), job.to()).boxed().toList();
    return new Load(StoreConnector.NAME, job.request(), job.number(), all, reason);
  }

  static Save failed(SaveJob job, String reason) {
    return new Save(StoreConnector.NAME, job.request(), job.number(), job.size(), reason);
  }
}
