package dev.gatun.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.InUseException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Who uses something that can be closed: calls for a moment, other resources for as long as they are open. The closer gets
 * it only when nobody does. Entering takes no lock and allocates nothing.
 */
final class Lifetime {
  private static final int CLOSED = Integer.MIN_VALUE / 2;

  private final AtomicInteger calls = new AtomicInteger();
  private final List<Object> holders = new ArrayList<>();

  /** Begins a call; false once it is closed. */
  boolean enter() {
    if (calls.incrementAndGet() > 0) return true;
    calls.decrementAndGet();
    return false;
  }

  void exit() {
    calls.decrementAndGet();
  }

  boolean isOpen() {
    return calls.get() >= 0;
  }

  /** Keeps it open until {@link #letGo}. */
  synchronized void hold(Object holder, Object held) {
    if (!isOpen()) throw new ClosedException(holder + " refused: " + held + " is closed");
    holders.add(holder);
  }

  synchronized void letGo(Object holder) {
    holders.remove(holder);
  }

  /** Shuts it to new calls; false while calls run. Holders are refused at once: they must be closed first. */
  synchronized boolean tryClose(Object held) {
    if (!holders.isEmpty()) throw new InUseException("close " + held + " refused: close " + holders + " first");
    return calls.compareAndSet(0, CLOSED);
  }

  /** Undoes {@link #tryClose}. */
  void reopen() {
    calls.addAndGet(-CLOSED);
  }
}
