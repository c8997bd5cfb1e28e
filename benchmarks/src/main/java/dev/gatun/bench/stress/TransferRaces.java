package dev.gatun.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.ZII_Result;
import org.openjdk.jcstress.infra.results.ZZI_Result;

/** Transfers against releases, against each other, and against a refit. */
public class TransferRaces {
  private TransferRaces() {}

  @JCStressTest
  @State
  @Outcome(id = "true, 0, 1", expect = ACCEPTABLE, desc = "Began in time: not lent while it ran, freed once at its end.")
  @Outcome(id = "false, 1, 1", expect = ACCEPTABLE, desc = "Released first: the transfer was refused, the block is free.")
  @Outcome(expect = FORBIDDEN, desc = "A block was lent under a transfer, freed twice or never.")
  public static class BeginReadAndRelease {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    @Actor
    public void releaser() {
      tiny.pool.release(block);
    }

    @Actor
    public void reader(ZII_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.beginRead(block));
    }

    @Arbiter
    public void end(ZII_Result r) {
      r.r2 = tiny.leasable();
      if (r.r1) tiny.pool.endRead(block);
      r.r3 = r.r2 + tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "true, true, 1", expect = ACCEPTABLE, desc = "Whichever came last freed the block, once.")
  @Outcome(expect = FORBIDDEN, desc = "Freed twice or never, or a legitimate call was refused.")
  public static class EndReadAndRelease {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    public EndReadAndRelease() {
      tiny.pool.beginRead(block);
    }

    @Actor
    public void releaser(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.release(block));
    }

    @Actor
    public void reader(ZZI_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.endRead(block));
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "true, true, 1", expect = ACCEPTABLE, desc = "The last of two transfers freed the released block, once.")
  @Outcome(expect = FORBIDDEN, desc = "Freed twice or never, or a legitimate call was refused.")
  public static class TwoEndReads {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    public TwoEndReads() {
      tiny.pool.beginRead(block);
      tiny.pool.beginRead(block);
      tiny.pool.release(block);
    }

    @Actor
    public void first(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.endRead(block));
    }

    @Actor
    public void second(ZZI_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.endRead(block));
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = {"true, false, 0", "false, true, 0"}, expect = ACCEPTABLE, desc = "One of the two, never both.")
  @Outcome(expect = FORBIDDEN, desc = "Read and written at once, or neither though nothing was in the way.")
  public static class ReaderAndWriter {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    @Actor
    public void reader(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.beginRead(block));
    }

    @Actor
    public void writer(ZZI_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.beginWrite(block));
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "false, true, 1", expect = ACCEPTABLE, desc = "The late end came first, so there was nothing to quarantine.")
  @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "Quarantined first, so the late end was refused.")
  @Outcome(expect = FORBIDDEN, desc = "Freed under quarantine, twice, or never.")
  public static class QuarantineAndEnd {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    public QuarantineAndEnd() {
      tiny.pool.beginRead(block);
      tiny.pool.release(block);
    }

    @Actor
    public void timesOut(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.quarantine(block));
    }

    @Actor
    public void endsLate(ZZI_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.endRead(block));
    }

    @Arbiter
    public void left(ZZI_Result r) {
      if (r.r1) {
        int early = tiny.leasable();
        tiny.pool.endQuarantine(block);
        r.r3 = 10 * early;
      }
      r.r3 += tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "Began before the refit; afterwards the block is old.")
  @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "Refused: the epoch had changed.")
  @Outcome(expect = FORBIDDEN, desc = "An old block is still current after the refit.")
  public static class BeginReadAndRefit {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    @Actor
    public void reader(III_Result r) {
      try {
        tiny.pool.beginRead(block);
      } catch (EpochChangedException refused) {
        r.r1 = 1;
      }
    }

    @Actor
    public void refit(III_Result r) {
      tiny.gate.close();
      tiny.gate.raise(new WeightEpoch("race", 1));
      tiny.pool.clearLocal();
      tiny.gate.open(EpochGate.State.OPEN);
      r.r2 = 1;
    }

    @Arbiter
    public void after(III_Result r) {
      r.r3 = tiny.pool.isCurrent(block) ? 1 : 0;
    }
  }
}
