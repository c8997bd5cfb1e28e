package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.gatun.backend.Deadline;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SteadyTransferTest {
  private static final int REQUESTS = 128;
  private static final int WARM_ROUNDS = 3_000; // until call sites are linked and the paths compiled
  private static final int ROUNDS = 500;

  @Test
  @DisplayName("filling, submitting and awaiting a batch of 128 requests allocates nothing in steady state")
  void allocatesNothing() {
    LoopbackTransferSubject subject = new LoopbackTransferSubject();
    subject.prepare();
    try (TransferBench bench = new TransferBench(subject);
        TransferBatch batch = bench.here.engine.batch(bench.here.pool, REQUESTS)) {
      long mine = bench.here.filled(1);
      long theirs = bench.there.address(bench.there.filled(2));
      Deadline deadline = Deadline.after(Duration.ofMinutes(2));
      Runnable round = () -> {
        batch.clear();
        for (int i = 0; i < REQUESTS; i++)
          batch.write(mine, 0, 64, bench.peer, theirs);
        batch.submit().await(deadline);
      };
      for (int i = 0; i < WARM_ROUNDS; i++)
        round.run();
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      threads.getCurrentThreadAllocatedBytes();
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < ROUNDS; i++)
        round.run();
      assertEquals(0, (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS, "bytes a batch");
    }
  }
}
