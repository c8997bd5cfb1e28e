package dev.gatun.observe;

import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Several observers as one. An observer that throws is counted and does not disturb the operation, nor the observers
 * after it. Usable by any thread.
 */
public final class Observers implements Observer {
  private static final Logger LOG = LoggerFactory.getLogger(Observers.class);

  private final Observer[] observers;
  private final LongAdder failures = new LongAdder();

  private Observers(Observer[] observers) {
    this.observers = observers;
  }

  /**
   * {@return the given observers as one}
   *
   * @param observers told in this order; none is fine
   */
  public static Observers of(Observer... observers) {
    return new Observers(observers.clone());
  }

  /** {@return how often an observer threw; the first time is also logged} */
  public long failures() {
    return failures.sum();
  }

  @Override
  public void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {
    for (Observer observer : observers) {
      try {
        observer.onPut(stored, alreadyPresent, failed, bytes, nanos);
      } catch (RuntimeException | LinkageError e) {
        contain(e);
      }
    }
  }

  @Override
  public void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {
    for (Observer observer : observers) {
      try {
        observer.onGet(hits, misses, leaseExpired, rejected, failed, bytes, nanos);
      } catch (RuntimeException | LinkageError e) {
        contain(e);
      }
    }
  }

  @Override
  public void onExists(int present, int absent, int failed, long nanos) {
    for (Observer observer : observers) {
      try {
        observer.onExists(present, absent, failed, nanos);
      } catch (RuntimeException | LinkageError e) {
        contain(e);
      }
    }
  }

  @Override
  public void onRemove(long removed, boolean failed, long nanos) {
    each(observer -> observer.onRemove(removed, failed, nanos));
  }

  @Override
  public void onSkip(String reason, int keys) {
    each(observer -> observer.onSkip(reason, keys));
  }

  @Override
  public void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {
    each(observer -> observer.onReset(epoch, outcome, removed, nanos));
  }

  /** For what is rare: a lambda is an object, and puts, gets and existence queries make none. */
  private void each(Consumer<Observer> call) {
    for (Observer observer : observers) {
      try {
        call.accept(observer);
      } catch (RuntimeException | LinkageError e) {
        contain(e);
      }
    }
  }

  private void contain(Throwable thrown) {
    boolean first = failures.sum() == 0;
    failures.increment();
    if (first) LOG.warn("an observer threw; further failures are only counted", thrown);
  }
}
