package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.NixlTestRuntime;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("nixl")
class NixlSteadyStateTest {
  private static final int REQUESTS = 128;
  private static final int PAGE = 64; // small pages: what is measured is not the copying
  private static final int WARM_ROUNDS = 3_000; // until call sites are linked and the paths compiled
  private static final int ROUNDS = 500;

  @Test
  @DisplayName("in steady state a batch of 128 reads over NIXL makes no Java objects, from clearing to its end")
  void allocatesNothing() {
    EpochGate gate = new EpochGate(new WeightEpoch("steady", 1));
    Deadline deadline = Deadline.after(Duration.ofMinutes(5));
    try (TransferEngine here = TransferEngine.open(NixlTestRuntime.options(), gate);
        TransferEngine there = TransferEngine.open(NixlTestRuntime.options(), gate);
        BlockPool mine = BlockPool.allocate(new PoolLayout(PAGE, REQUESTS, 0), gate);
        BlockPool theirs = BlockPool.allocate(new PoolLayout(PAGE, REQUESTS, 0), gate)) {
      here.register(mine.slab());
      there.register(theirs.slab());
      Segment peer = here.openSegment(there.descriptor());
      long[] blocks = new long[REQUESTS];
      for (int i = 0; i < REQUESTS; i++)
        blocks[i] = mine.lease();
      long base = theirs.baseAddress();
      try (TransferBatch batch = here.batch(mine, REQUESTS)) {
        Runnable round = () -> {
          batch.clear();
          for (int i = 0; i < REQUESTS; i++)
            batch.read(blocks[i], peer, base + (REQUESTS - 1 - i) * (long) PAGE);
          assertTrue(batch.submit().await(deadline));
        };
        for (int i = 0; i < WARM_ROUNDS; i++)
          round.run();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < ROUNDS; i++)
          round.run();
        assertEquals(0, (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS, "bytes a batch");
        assertTrue(batch.allCompleted());
      }
      for (long block : blocks)
        mine.release(block);
      here.unregister(mine.slab());
      there.unregister(theirs.slab());
    }
  }
}
