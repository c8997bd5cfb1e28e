package dev.gatun.observe;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Micrometer meters: {@code gatun.put.keys} (result stored, duplicate, failed), {@code gatun.get.keys} (result hit, miss,
 * lease_expired, rejected, failed), {@code gatun.exists.keys} (result present, absent, failed), {@code gatun.put.bytes},
 * {@code gatun.get.bytes}, {@code gatun.skipped.keys} (reason), {@code gatun.removed.objects},
 * {@code gatun.remove.failed} (calls), {@code gatun.resets} (outcome), the timers {@code gatun.put.time}, {@code gatun.get.time}, {@code gatun.reset.time}, and the gauge
 * {@code gatun.reset.version}: the weight version of the last refit that was safe.
 *
 * <p>Usable by any thread. Counting puts and gets takes no lock and makes no object.
 */
// whoever has a registry reads Micrometer's module himself; others must not need it
@SuppressWarnings("exports")
public final class MeterObserver implements Observer, AutoCloseable {
  private final MeterRegistry registry;
  private final Tags tags;
  private final List<Meter> meters = new ArrayList<>();
  private final Counter putStored;
  private final Counter putDuplicate;
  private final Counter putFailed;
  private final Counter putBytes;
  private final Timer putTime;
  private final Counter getHit;
  private final Counter getMiss;
  private final Counter getLeaseExpired;
  private final Counter getRejected;
  private final Counter getFailed;
  private final Counter getBytes;
  private final Timer getTime;
  private final Counter present;
  private final Counter absent;
  private final Counter existsFailed;
  private final Counter removed;
  private final Counter removeFailed;
  private final Timer resetTime;
  private final Map<String, Counter> skipped = new ConcurrentHashMap<>();
  private final Map<String, Counter> resets = new ConcurrentHashMap<>();
  private final AtomicLong resetVersion = new AtomicLong(-1);

  /**
   * Registers the meters.
   *
   * @param registry where they go
   * @param tags put on each of them, such as the replica's name; observers of one registry must differ in them
   */
  public MeterObserver(MeterRegistry registry, Iterable<Tag> tags) {
    this.registry = registry;
    this.tags = Tags.of(tags);
    putStored = counter("gatun.put.keys", "result", "stored");
    putDuplicate = counter("gatun.put.keys", "result", "duplicate");
    putFailed = counter("gatun.put.keys", "result", "failed");
    putBytes = keep(Counter.builder("gatun.put.bytes").baseUnit("bytes").tags(this.tags).register(registry));
    putTime = keep(Timer.builder("gatun.put.time").tags(this.tags).register(registry));
    getHit = counter("gatun.get.keys", "result", "hit");
    getMiss = counter("gatun.get.keys", "result", "miss");
    getLeaseExpired = counter("gatun.get.keys", "result", "lease_expired");
    getRejected = counter("gatun.get.keys", "result", "rejected");
    getFailed = counter("gatun.get.keys", "result", "failed");
    getBytes = keep(Counter.builder("gatun.get.bytes").baseUnit("bytes").tags(this.tags).register(registry));
    getTime = keep(Timer.builder("gatun.get.time").tags(this.tags).register(registry));
    present = counter("gatun.exists.keys", "result", "present");
    absent = counter("gatun.exists.keys", "result", "absent");
    existsFailed = counter("gatun.exists.keys", "result", "failed");
    removed = keep(Counter.builder("gatun.removed.objects").tags(this.tags).register(registry));
    removeFailed = keep(Counter.builder("gatun.remove.failed").tags(this.tags).register(registry));
    resetTime = keep(Timer.builder("gatun.reset.time").tags(this.tags).register(registry));
    keep(Gauge.builder("gatun.reset.version", () -> resetVersion.get() < 0 ? Double.NaN : resetVersion.get())
        .tags(this.tags).register(registry));
  }

  @Override
  public void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {
    putStored.increment(stored);
    putDuplicate.increment(alreadyPresent);
    putFailed.increment(failed);
    putBytes.increment((double) bytes);
    putTime.record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {
    getHit.increment(hits);
    getMiss.increment(misses);
    getLeaseExpired.increment(leaseExpired);
    getRejected.increment(rejected);
    getFailed.increment(failed);
    getBytes.increment((double) bytes);
    getTime.record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void onExists(int presentKeys, int absentKeys, int failed, long nanos) {
    present.increment(presentKeys);
    absent.increment(absentKeys);
    existsFailed.increment(failed);
  }

  @Override
  public void onRemove(long objects, boolean failed, long nanos) {
    removed.increment((double) objects);
    if (failed) removeFailed.increment();
  }

  @Override
  public void onSkip(String reason, int keys) {
    skipped.computeIfAbsent(reason, word -> counter("gatun.skipped.keys", "reason", word)).increment(keys);
  }

  @Override
  public void onReset(WeightEpoch epoch, String outcome, long objects, long nanos) {
    resets.computeIfAbsent(outcome, word -> counter("gatun.resets", "outcome", word)).increment();
    resetTime.record(nanos, TimeUnit.NANOSECONDS);
    if (outcome.equals("VERIFIED") || outcome.equals("ISOLATED")) resetVersion.set(epoch.version());
  }

  /**
   * Shows operations inside a gate and whether it is open: {@code gatun.gate.inside}, {@code gatun.gate.open} (1 or 0).
   *
   * @param gate watched until the result is closed
   * @param name value of the tag {@code part}
   * @return ends it and takes the gauges away
   */
  public Watch watch(EpochGate gate, String name) {
    Watch inside = watch("gatun.gate.inside", name, gate::inside);
    Watch open = watch("gatun.gate.open", name, () -> gate.state() == EpochGate.State.OPEN ? 1 : 0);
    return () -> {
      inside.close();
      open.close();
    };
  }

  /**
   * Shows a figure of some part, such as a pool's free blocks. It is never shown below 0, and disappears with its part.
   *
   * @param meter name of the gauge
   * @param part value of the tag {@code part}
   * @param value read at each scrape; must be quick
   * @return ends it and takes the gauge away
   * @throws IllegalStateException if that part's gauge of that name is shown already
   */
  public Watch watch(String meter, String part, LongSupplier value) {
    synchronized (meters) {
      Tags own = tags.and("part", part);
      if (registry.find(meter).tags(own).gauge() != null) {
        throw new IllegalStateException(meter + " of " + part + " is shown already");
      }
      Gauge gauge = keep(Gauge.builder(meter, () -> Math.max(0, value.getAsLong())).tags(own).register(registry));
      return () -> drop(gauge);
    }
  }

  /** Ends the showing of a gauge. */
  public interface Watch extends AutoCloseable {
    /** Takes the gauge away. Idempotent. */
    @Override
    void close();
  }

  /** Takes all meters of this observer away. Idempotent; what is observed later is not counted. */
  @Override
  public void close() {
    synchronized (meters) {
      meters.forEach(registry::remove);
      meters.clear();
    }
  }

  private Counter counter(String name, String key, String value) {
    return keep(Counter.builder(name).tags(tags).tag(key, value).register(registry));
  }

  private <M extends Meter> M keep(M meter) {
    synchronized (meters) {
      meters.add(meter);
    }
    return meter;
  }

  private void drop(Meter meter) {
    synchronized (meters) {
      if (meters.remove(meter)) registry.remove(meter);
    }
  }
}
