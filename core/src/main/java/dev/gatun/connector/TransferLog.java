package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.FinishedTransfers.Save;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** How many transfers are open, and what became of those that ended. Any thread. */
final class TransferLog {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ended = lock.newCondition();
  private List<Load> loads = new ArrayList<>();
  private List<Save> saves = new ArrayList<>();
  private int openLoads;
  private int openSaves;

  void beginLoad() {
    within(() -> openLoads++);
  }

  void beginSave() {
    within(() -> openSaves++);
  }

  void end(Load load) {
    within(() -> {
      openLoads--;
      loads.add(load);
    });
  }

  void end(Save save) {
    within(() -> {
      openSaves--;
      saves.add(save);
    });
  }

  FinishedTransfers take() {
    lock.lock();
    try {
      if (loads.isEmpty() && saves.isEmpty()) return FinishedTransfers.NONE;
      FinishedTransfers taken = new FinishedTransfers(loads, saves);
      loads = new ArrayList<>();
      saves = new ArrayList<>();
      return taken;
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
        ended.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void within(Runnable change) {
    lock.lock();
    try {
      change.run();
      ended.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
