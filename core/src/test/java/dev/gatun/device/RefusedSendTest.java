package dev.gatun.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.internal.device.HostCudaDriver;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A driver that refuses a call in the middle of a batch. */
class RefusedSendTest {
  private static final KvShape SHAPE = new KvShape(2, 2, 1, 16, 4, 2);
  private static final int PAGES = 4;

  private final AtomicInteger launchesLeft = new AtomicInteger(Integer.MAX_VALUE);
  private final AtomicInteger copiesLeft = new AtomicInteger(Integer.MAX_VALUE);
  private final AtomicInteger eventsLeft = new AtomicInteger(Integer.MAX_VALUE);

  @ParameterizedTest
  @EnumSource(Direction.class)
  @DisplayName("blocks of a batch that was queued in part stay marked until the part has ended, and hold no page then")
  void staysMarked(Direction direction) throws Exception {
    Hold.define((HostCudaDriver) CudaDrivers.open("host"));
    try (Bed bed = new Bed();
        DeviceStream engine = bed.gpu.newStream("engine", StreamPriority.HIGH);
        StagedBatch batch = bed.pipeline.batch(direction, PAGES)) {
      long[] blocks = new long[PAGES];
      for (int i = 0; i < PAGES; i++) {
        blocks[i] = bed.pool.lease();
        bed.pool.rewrite(blocks[i]).fill((byte) 1);
        batch.add(i, blocks[i]);
      }
      try (Hold hold = new Hold(engine)) {
        engine.record(bed.ready);
        launchesLeft.set(2);
        assertThrows(DeviceException.class, () -> batch.send(bed.ready));
        assertTrue(batch.isRunning());
        assertThrows(DeadlineException.class, () -> batch.await(Deadline.after(Duration.ofMillis(5))));
        assertThrows(IllegalStateException.class, () -> bed.pool.rewrite(blocks[0]), "two pages of it may still move");
        hold.release();
        batch.await(Deadline.after(Duration.ofSeconds(30)));
      }
      assertFalse(batch.isRunning());
      launchesLeft.set(Integer.MAX_VALUE);
      batch.send(bed.ready).await(Deadline.after(Duration.ofSeconds(30)));
      for (long block : blocks) {
        assertEquals(SHAPE.valueBytes(), bed.pool.page(block).byteSize(), "a page again");
        bed.pool.release(block);
      }
    }
  }

  @Test
  @DisplayName("a copy that the driver refused is not made with a later batch")
  void refusedCopyIsForgotten() {
    try (Bed bed = new Bed(); StagedBatch batch = bed.pipeline.batch(Direction.SAVE, PAGES)) {
      long[] blocks = new long[PAGES];
      for (int i = 0; i < PAGES; i++) {
        blocks[i] = bed.pool.lease();
        batch.add(i, blocks[i]);
      }
      copiesLeft.set(1);
      assertThrows(DeviceException.class, () -> batch.send(bed.ready));
      copiesLeft.set(Integer.MAX_VALUE);
      batch.await(Deadline.after(Duration.ofSeconds(30)));
      for (long block : blocks)
        bed.pool.rewrite(block).fill((byte) 9);
      batch.clear(Deadline.after(Duration.ofSeconds(30))).add(0, blocks[0]);
      batch.send(bed.ready).await(Deadline.after(Duration.ofSeconds(30)));
      for (int i = 1; i < PAGES; i++)
        assertEquals(9, bed.pool.page(blocks[i]).get(ValueLayout.JAVA_BYTE, 0), "block " + i);
      for (long block : blocks)
        bed.pool.release(block);
    }
  }

  @Test
  @DisplayName("a batch for which the driver has not all events leaves nothing open, and the next one works")
  void refusedBatch() {
    try (Bed bed = new Bed()) {
      int refused = 0;
      for (;; refused++) {
        eventsLeft.set(refused);
        try (StagedBatch batch = bed.pipeline.batch(Direction.SAVE, 1)) {
          eventsLeft.set(Integer.MAX_VALUE);
          long block = bed.pool.lease();
          batch.add(0, block).send(bed.ready).await(Deadline.after(Duration.ofSeconds(30)));
          bed.pool.release(block);
          break;
        } catch (DeviceException ofTheTest) {
          eventsLeft.set(Integer.MAX_VALUE);
        }
      }
      assertTrue(refused > 2, "events of the ring, of the table and of the batch: " + refused);
    }
  }

  /** A cache and a pool of pages on a GPU whose driver refuses what the test says; a chunk holds a page. */
  private final class Bed implements AutoCloseable {
    private final Device gpu = new Device(refusing(CudaDrivers.open("host")), 0);
    private final DeviceEvent ready = gpu.newEvent("ready");
    private final DeviceSlab memory = gpu.allocate("cache", SHAPE.valueBytes() * PAGES);
    private final PoolLayout pages = new PoolLayout(SHAPE.valueBytes(), PAGES);
    private final Slab slab = Slab.allocate(SlabOptions.of("pages", pages.strideBytes() * PAGES));
    private final PinnedSlab pinned = gpu.pin(slab);
    private final BlockPool pool = BlockPool.over(slab, pages, new EpochGate(new WeightEpoch("run", 1)));
    private final StagingPipeline pipeline = StagingPipeline.open(layout(memory), List.of(memory), pool, pinned,
        new StagingOptions(2 * SHAPE.valueBytes(), SHAPE.valueBytes(), 1 << 20));

    /** Refused if a test has left anything open. */
    @Override
    public void close() {
      pipeline.close();
      pool.close();
      pinned.close();
      slab.close();
      memory.close();
      ready.close();
      gpu.close();
    }
  }

  private static PagedKvLayout layout(DeviceSlab memory) {
    List<Long> parts = List.of(0L, 1L, 2L, 3L).stream().map(part -> memory.address() + part * SHAPE.partBytes() * PAGES)
        .toList();
    return new PagedKvLayout(SHAPE, KvStrides.tokensFirst(SHAPE), parts, PAGES, PagedKvLayout.NO_NULL_BLOCK);
  }

  private CudaDriver refusing(CudaDriver driver) {
    return (CudaDriver) Proxy.newProxyInstance(CudaDriver.class.getClassLoader(), new Class<?>[]{CudaDriver.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals("launch") && launchesLeft.getAndDecrement() <= 0) {
            throw new DeviceException("cuLaunchKernel", 2, "CUDA_ERROR_OUT_OF_MEMORY", "as the test says");
          }
          if (method.getName().equals("copyToHost") && copiesLeft.getAndDecrement() <= 0) {
            throw new DeviceException("cuMemcpyDtoHAsync", 2, "CUDA_ERROR_OUT_OF_MEMORY", "as the test says");
          }
          if (method.getName().equals("createEvent") && eventsLeft.getAndDecrement() <= 0) {
            throw new DeviceException("cuEventCreate", 2, "CUDA_ERROR_OUT_OF_MEMORY", "as the test says");
          }
          try {
            return method.invoke(driver, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }
}
