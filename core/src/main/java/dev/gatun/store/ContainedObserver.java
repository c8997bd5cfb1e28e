package dev.gatun.store;

import dev.gatun.backend.Observer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what an observer throws from the operation that it watches: pages that were stored are stored, and blocks that
 * were marked are let go. The first failure is logged. Allocates nothing.
 */
final class ContainedObserver implements Observer {
  private static final Logger LOG = LoggerFactory.getLogger(KvStore.class);

  private final Observer observer;
  private final AtomicBoolean failed = new AtomicBoolean();

  private ContainedObserver(Observer observer) {
    this.observer = observer;
  }

  @SuppressWarnings("ReferenceEquality") // the one that sees nothing throws nothing
  static Observer of(Observer observer) {
    return observer == NONE ? observer : new ContainedObserver(observer);
  }

  @Override
  public void onPut(int stored, int alreadyPresent, int keysFailed, long bytes, long nanos) {
    try {
      observer.onPut(stored, alreadyPresent, keysFailed, bytes, nanos);
    } catch (RuntimeException | LinkageError e) {
      contain(e);
    }
  }

  @Override
  public void onGet(int hits, int misses, int leaseExpired, int rejected, int keysFailed, long bytes, long nanos) {
    try {
      observer.onGet(hits, misses, leaseExpired, rejected, keysFailed, bytes, nanos);
    } catch (RuntimeException | LinkageError e) {
      contain(e);
    }
  }

  @Override
  public void onExists(int present, int absent, int keysFailed, long nanos) {
    try {
      observer.onExists(present, absent, keysFailed, nanos);
    } catch (RuntimeException | LinkageError e) {
      contain(e);
    }
  }

  @Override
  public void onRemove(long removed, boolean callFailed, long nanos) {
    try {
      observer.onRemove(removed, callFailed, nanos);
    } catch (RuntimeException | LinkageError e) {
      contain(e);
    }
  }

  @Override
  public void onSkip(String reason, int keys) {
    try {
      observer.onSkip(reason, keys);
    } catch (RuntimeException | LinkageError e) {
      contain(e);
    }
  }

  private void contain(Throwable thrown) {
    if (failed.compareAndSet(false, true)) LOG.warn("an observer threw; what it throws from now on is dropped", thrown);
  }
}
