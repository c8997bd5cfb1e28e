package dev.gatun.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** Two threads lease and release. */
public class LeaseRaces {
  private LeaseRaces() {}

  @JCStressTest
  @State
  @Outcome(id = {"true, false, 0", "false, true, 0"}, expect = ACCEPTABLE, desc = "One thread has the only block.")
  @Outcome(id = "true, true, .*", expect = FORBIDDEN, desc = "One block, two owners.")
  @Outcome(id = "false, false, .*", expect = FORBIDDEN, desc = "A free block that nobody found.")
  @Outcome(expect = FORBIDDEN, desc = "The block was lent once more.")
  public static class OneBlockTwoThreads {
    private final TinyPool tiny = new TinyPool(1);

    @Actor
    public void first(ZZI_Result r) {
      r.r1 = tiny.pool.tryLease() != 0;
    }

    @Actor
    public void second(ZZI_Result r) {
      r.r2 = tiny.pool.tryLease() != 0;
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "true, true, true", expect = ACCEPTABLE, desc = "Each thread always found a block, and not the same.")
  @Outcome(expect = FORBIDDEN, desc = "A thread found the pool exhausted with a block free, or both have one block.")
  public static class BlockForEach {
    private final TinyPool tiny = new TinyPool(2);
    private long first;
    private long second;

    @Actor
    public void first(ZZZ_Result r) {
      first = releaseAndLeaseAgain();
      r.r1 = first != 0;
    }

    @Actor
    public void second(ZZZ_Result r) {
      second = releaseAndLeaseAgain();
      r.r2 = second != 0;
    }

    @Arbiter
    public void distinct(ZZZ_Result r) {
      r.r3 = tiny.pool.blockIndex(first) != tiny.pool.blockIndex(second);
    }

    private long releaseAndLeaseAgain() {
      tiny.pool.release(tiny.pool.lease());
      return tiny.pool.tryLease();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "true, true, 0", expect = ACCEPTABLE, desc = "Leased after the other thread's release.")
  @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "Looked before the release; the block is there afterwards.")
  @Outcome(expect = FORBIDDEN, desc = "The block was lost, doubled, or its release refused.")
  public static class ReleaseHandsOver {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    @Actor
    public void releaser(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.release(block));
    }

    @Actor
    public void lessee(ZZI_Result r) {
      r.r2 = tiny.pool.tryLease() != 0;
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = {"true, false, 1", "false, true, 1"}, expect = ACCEPTABLE, desc = "One release counts, one is refused.")
  @Outcome(expect = FORBIDDEN, desc = "A double release was accepted, or the block is free twice.")
  public static class DoubleRelease {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    @Actor
    public void first(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.release(block));
    }

    @Actor
    public void second(ZZI_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.release(block));
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = {"1, 0, 1",
      "0, 1, 1"}, expect = ACCEPTABLE, desc = "One of the two releases ended the old lease, the other was refused, and the new lease stands.")
  @Outcome(id = ".*, .*, 0", expect = FORBIDDEN, desc = "The stale release ended somebody else's lease.")
  @Outcome(expect = FORBIDDEN, desc = "A release counted twice or not at all.")
  public static class StaleReleaseAndNewLease {
    private final TinyPool tiny = new TinyPool(1);
    private final long old = tiny.pool.lease();
    private long next;

    @Actor
    public void releasesAndLeases(III_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.release(old)) ? 1 : 0;
      do {
        next = tiny.pool.tryLease();
      } while (next == 0);
    }

    @Actor
    public void releasesLate(III_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.release(old)) ? 1 : 0;
    }

    @Arbiter
    public void newLease(III_Result r) {
      r.r3 = tiny.pool.isCurrent(next) ? 1 : 0;
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "true, true, 0", expect = ACCEPTABLE, desc = "Retained before the release: one reference is left.")
  @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "Released first: the retain is refused, the block is free.")
  @Outcome(expect = FORBIDDEN, desc = "A reference on a free block, or a lost one.")
  public static class ReleaseAndRetain {
    private final TinyPool tiny = new TinyPool(1);
    private final long block = tiny.pool.lease();

    @Actor
    public void releaser(ZZI_Result r) {
      r.r1 = TinyPool.accepted(() -> tiny.pool.release(block));
    }

    @Actor
    public void retainer(ZZI_Result r) {
      r.r2 = TinyPool.accepted(() -> tiny.pool.retain(block));
    }

    @Arbiter
    public void left(ZZI_Result r) {
      r.r3 = tiny.leasable();
    }
  }
}
