package dev.gatun.connector;

import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.FinishedTransfers.Save;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What waits for the transfer thread, loads first. Each job that was added ends in the log exactly once. */
final class TransferQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<LoadJob> loads = new ArrayDeque<>();
  private final Deque<SaveJob> saves = new ArrayDeque<>();
  private final int savesMax;
  private final TransferLog log;
  private boolean closed;

  TransferQueue(int savesMax, TransferLog log) {
    this.savesMax = savesMax;
    this.log = log;
  }

  void add(LoadJob job) {
    lock.lock();
    try {
      log.beginLoad();
      if (closed) log.end(failed(job, "the connector is closed"));
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
      log.beginSave();
      boolean full = saves.size() >= savesMax;
      if (closed) log.end(failed(job, "the connector is closed"));
      else if (full) log.end(failed(job, savesMax + " saves are waiting already"));
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

  /** Ends what waits as failed. {@return how many} */
  int failWaiting(String reason) {
    lock.lock();
    try {
      int waiting = loads.size() + saves.size();
      loads.forEach(job -> log.end(failed(job, reason)));
      saves.forEach(job -> log.end(failed(job, reason)));
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

  static Load failed(LoadJob job, String reason) {
    List<Integer> all = IntStream.range(job.from(), job.to()).boxed().toList();
    return new Load(StoreConnector.NAME, job.request(), job.number(), all, reason);
  }

  static Save failed(SaveJob job, String reason) {
    return new Save(StoreConnector.NAME, job.request(), job.number(), job.size(), reason);
  }
}
