package dev.gatun.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.gatun.backend.Deadline;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("in steady state a staged batch makes no Java objects")
class SteadyStateTest {
  private static final int FRAGMENTS = 64;
  private static final int WARM_ROUNDS = 2_000; // until call sites are linked and the paths compiled
  private static final int ROUNDS = 500;

  @BeforeAll
  static void select() throws Exception {
    StandInLibrary.select();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ffm", "lwjgl"})
  @DisplayName("filling and uploading a table, gather, copy, record, wait, query, scatter")
  void allocatesNothing(String driver) {
    long bytes = FRAGMENTS * 128L;
    try (Device gpu = Device.open(driver, 0);
        Slab slab = Slab.allocate(SlabOptions.of("host", bytes));
        PinnedSlab host = gpu.pin(slab);
        DeviceStream stream = gpu.newStream("stream", StreamPriority.LOW);
        DeviceStream copies = gpu.newStream("copies", StreamPriority.LOW);
        DeviceSlab cache = gpu.allocate("cache", 2 * bytes);
        DeviceSlab ring = gpu.allocate("ring", bytes);
        DeviceEvent gathered = gpu.newEvent("gathered");
        DeviceEvent copied = gpu.newEvent("copied");
        PageCopy pages = PageCopy.load(gpu);
        FragmentTable table = FragmentTable.allocate("table", stream, List.of(cache), 128, FRAGMENTS)) {
      Deadline deadline = Deadline.after(Duration.ofMinutes(2));
      Runnable batch = () -> {
        table.clear(deadline);
        for (int i = 0; i < FRAGMENTS; i++)
          table.add(0, i * 256L);
        table.upload();
        pages.gather(table, 0, FRAGMENTS, ring, 0);
        stream.record(gathered);
        copies.waitFor(gathered).copy(host, 0, ring, 0, bytes).record(copied);
        copied.await(deadline);
        pages.scatter(ring, 0, table, 0, FRAGMENTS);
        stream.await(deadline);
      };
      for (int round = 0; round < WARM_ROUNDS; round++)
        batch.run();
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      threads.getCurrentThreadAllocatedBytes();
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++)
        batch.run();
      assertEquals(0, (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS, "bytes a batch");
    }
  }
}
