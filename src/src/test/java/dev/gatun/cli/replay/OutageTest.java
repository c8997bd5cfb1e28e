package dev.gatun.cli.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackMaster;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.Verify;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A replay whose store stops working. */
class OutageTest {

  private static LocalReplica replica(String pool, Trace trace) {
    StoreOptions store = StoreOptions.loopback(pool, 64L << 20);
    return LocalReplica.beside(new ReplicaSettings(0, 1, new TraceSource(null, 100, 1), new Speed(0), 600_000,
        4096, 64, KeyCodec.epoch("outage"), true, Fault.NONE, ReplayDevice.NONE,
        store), trace);
  }

  @Test
  @DisplayName("a store whose master is gone is given up after five calls, with a report of what was done")
  void gaveUp() {
    Trace trace = TraceGenerator.generate(100, 1);
    LocalReplica replica = replica("outage", trace);
    LoopbackMaster master = new LoopbackMaster("loopback:outage");
    try (ReplayRun run = new ReplayRun(List.of(replica), 3, null)) {
      run.open();
      master.fail();
      run.run();
      ReplicaFigures figures = run.figures();
      assertEquals("the store failed as a whole 5 times in a row, last exists: RPC_FAIL (-900)", figures.outage());
      assertTrue(figures.get(Figure.REQUESTS) <= 3, "requests: " + figures.get(Figure.REQUESTS));
      assertEquals(0, run.resets(), "no refit is begun");
      assertTrue(figures.get(Figure.FAILURES) > 0);
      ReplayReport report = new ReplayReport(new ReplayOptions(new TraceSource(null, 100, 1), false, 4096, 1,
          new Speed(0), 0, true, Verify.NONE, null, true, Fault.NONE, ReplayDevice.NONE), trace,
          IdealCache.of(trace, 0),
          CapacityPlan.forAll(100, 4096, 1), figures, run.refits(), 1);
      assertEquals(1, report.exitCode());
      assertEquals(figures.outage() + "; ended early, after " + figures.get(Figure.REQUESTS) + " of 100 requests",
          report.complaint());
      assertTrue(report.text().contains("ended early"), report.text());
      master.mend();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @DisplayName("calls that fail as a whole fewer times in a row are failures of theirs alone")
  void recovers(int failures) {
    Outage outage = new Outage();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < failures; i++)
        outage.failed("get");
      assertFalse(outage.isTotal());
      outage.answered();
    }
    for (int i = 0; i < Outage.CALLS_MAX; i++) {
      assertFalse(outage.isTotal());
      outage.failed("put: RPC_FAIL (-900)");
    }
    assertTrue(outage.isTotal());
  }
}
