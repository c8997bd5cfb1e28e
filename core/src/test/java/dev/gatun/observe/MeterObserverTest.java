package dev.gatun.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MeterObserverTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final MeterObserver meters = new MeterObserver(registry, Tags.of("replica", "0"));

  @Test
  @DisplayName("K16.04 puts: ok, duplicate, failed, bytes, time")
  void puts() {
    meters.onPut(3, 1, 2, 3 * 4096, 1_000_000);
    meters.onPut(1, 0, 0, 4096, 1_000_000);

    assertEquals(4, count("gatun.put.keys", "result", "stored"));
    assertEquals(1, count("gatun.put.keys", "result", "duplicate"));
    assertEquals(2, count("gatun.put.keys", "result", "failed"));
    assertEquals(4 * 4096, registry.get("gatun.put.bytes").tag("replica", "0").counter().count());
    assertEquals(2, registry.get("gatun.put.time").timer().count());
    assertEquals(2, registry.get("gatun.put.time").timer().totalTime(TimeUnit.MILLISECONDS));
  }

  @Test
  @DisplayName("K16.04 gets: hit, miss, lease expired, rejected, error, bytes: writes that are never read back show")
  void gets() {
    meters.onGet(1, 2, 3, 4, 5, 4096, 500);

    assertEquals(1, count("gatun.get.keys", "result", "hit"));
    assertEquals(2, count("gatun.get.keys", "result", "miss"));
    assertEquals(3, count("gatun.get.keys", "result", "lease_expired"));
    assertEquals(4, count("gatun.get.keys", "result", "rejected"));
    assertEquals(5, count("gatun.get.keys", "result", "failed"));
    assertEquals(4096, registry.get("gatun.get.bytes").counter().count());
  }

  @Test
  @DisplayName("existence queries, removals and skipped work are counted")
  void others() {
    meters.onExists(1, 2, 3, 500);
    meters.onRemove(7, false, 500);
    meters.onRemove(0, true, 500);
    meters.onSkip("gate", 2);
    meters.onSkip("gate", 3);
    meters.onSkip("disabled", 1);

    assertEquals(1, count("gatun.exists.keys", "result", "present"));
    assertEquals(2, count("gatun.exists.keys", "result", "absent"));
    assertEquals(3, count("gatun.exists.keys", "result", "failed"));
    assertEquals(7, registry.get("gatun.removed.objects").counter().count());
    assertEquals(1, registry.get("gatun.remove.failed").counter().count());
    assertEquals(5, count("gatun.skipped.keys", "reason", "gate"));
    assertEquals(1, count("gatun.skipped.keys", "reason", "disabled"));
  }

  @Test
  @DisplayName("K16.04 S1.9 reset count and the last epoch that was safe")
  void resets() {
    assertTrue(Double.isNaN(registry.get("gatun.reset.version").gauge().value()), "none yet");

    meters.onReset(new WeightEpoch("run", 4), "VERIFIED", 10, 1000);
    meters.onReset(new WeightEpoch("run", 5), "VERIFIED", 10, 1000);
    meters.onReset(new WeightEpoch("run", 6), "FAILED", 0, 1000);

    assertEquals(2, count("gatun.resets", "outcome", "VERIFIED"));
    assertEquals(1, count("gatun.resets", "outcome", "FAILED"));
    assertEquals(5, registry.get("gatun.reset.version").gauge().value());
    assertEquals(3, registry.get("gatun.reset.time").timer().count());
  }

  @Test
  @DisplayName("K16.03 a thousand parts come and go: gauges are back to 0, never negative, and gone with their part")
  void gauges() {
    AtomicLong registered = new AtomicLong();
    MeterObserver.Watch total = meters.watch("gatun.registered.bytes", "store", registered::get);
    int before = registry.getMeters().size();
    List<MeterObserver.Watch> watches = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      registered.addAndGet(4096);
      watches.add(meters.watch("gatun.pool.free", "pool-" + i, () -> 7));
    }
    assertEquals(1000 * 4096, gauge("gatun.registered.bytes", "store"));
    assertEquals(7, gauge("gatun.pool.free", "pool-999"));
    for (MeterObserver.Watch watch : watches) {
      registered.addAndGet(-4096);
      watch.close();
      watch.close();
    }

    assertEquals(0, gauge("gatun.registered.bytes", "store"));
    registered.set(-1);
    assertEquals(0, gauge("gatun.registered.bytes", "store"));
    assertEquals(before, registry.getMeters().size(), "no gauge of a part that is gone");
    total.close();
  }

  @Test
  @DisplayName("a gate's insiders and state are shown while it is watched")
  void gate() {
    EpochGate gate = new EpochGate(new WeightEpoch("run", 0));
    MeterObserver.Watch watch = meters.watch(gate, "replica-0");
    int ticket = gate.enter("get");
    assertEquals(1, gauge("gatun.gate.inside", "replica-0"));
    assertEquals(1, gauge("gatun.gate.open", "replica-0"));
    gate.close();
    gate.exit(ticket);
    assertEquals(0, gauge("gatun.gate.inside", "replica-0"));
    assertEquals(0, gauge("gatun.gate.open", "replica-0"));

    assertThrows(IllegalStateException.class, () -> meters.watch(gate, "replica-0"));
    watch.close();
    meters.watch(gate, "replica-0").close();
  }

  @Test
  @DisplayName("closing takes every meter away")
  void closing() {
    meters.onSkip("gate", 1);
    meters.watch("gatun.pool.free", "pool", () -> 1);
    meters.close();
    meters.close();

    assertEquals(List.of(), registry.getMeters());
  }

  private double count(String name, String key, String value) {
    return registry.get(name).tag(key, value).tag("replica", "0").counter().count();
  }

  private double gauge(String name, String part) {
    return registry.get(name).tag("part", part).gauge().value();
  }
}
