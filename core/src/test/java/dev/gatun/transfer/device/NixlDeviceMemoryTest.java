package dev.gatun.transfer.device;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.PinnedSlab;
import dev.gatun.device.StreamPriority;
import dev.gatun.internal.backend.NixlTestRuntime;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.memory.SlabOwner;
import dev.gatun.transfer.Segment;
import dev.gatun.transfer.TransferBatch;
import dev.gatun.transfer.TransferEngine;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The real NIXL with pools in the memory of a GPU: one of host memory here. What needs a GPU is in docs/device-transfer.md. */
@Tag("nixl")
class NixlDeviceMemoryTest {
  private static final long PAGE = 65_536;
  private static final int PAGES = 64;

  /** A GPU's pool of known pages under an engine. */
  private static final class Side implements AutoCloseable {
    final EpochGate gate = new EpochGate(new WeightEpoch("nixl", 1));
    final Device gpu = Device.open("host", 0);
    final DeviceStream stream = gpu.newStream("copies", StreamPriority.LOW);
    final DeviceSlab memory = gpu.allocate("pool", PAGE * PAGES);
    final Slab host = Slab.allocate(SlabOptions.of("image", PAGE * PAGES));
    final PinnedSlab image = gpu.pin(host);
    final Slab slab = memory.asSlab("pool");
    final BlockPool pool = BlockPool.over(slab, new PoolLayout(PAGE, PAGES), gate);
    final TransferEngine engine = TransferEngine.open(NixlTestRuntime.options(), gate);

    Side() {
      engine.register(slab);
    }

    void fill(long seed) {
      for (long at = 0; at < host.byteSize(); at += Long.BYTES)
        host.segment().set(ValueLayout.JAVA_LONG, at, seed + at);
      stream.copy(memory, 0, image, 0, memory.byteSize());
      await();
    }

    long word(long at) {
      stream.copy(image, 0, memory, 0, memory.byteSize());
      await();
      return host.segment().get(ValueLayout.JAVA_LONG, at);
    }

    private void await() {
      gpu.drain(Deadline.after(Duration.ofSeconds(30)));
    }

    @Override
    public void close() {
      engine.close();
      pool.close();
      slab.close();
      image.close();
      host.close();
      memory.close();
      stream.close();
      gpu.close();
    }
  }

  @Test
  @DisplayName("K5.07 pages go from one GPU's pool into another's, shuffled, by pull and by push, every byte of them right")
  void moves() {
    try (Side one = new Side(); Side other = new Side()) {
      one.fill(1);
      other.fill(1L << 40);
      try (Segment peer = one.engine.openSegment(other.engine.descriptor());
          TransferBatch batch = one.engine.batch(one.pool, PAGES)) {
        long[] blocks = new long[PAGES];
        for (int i = 0; i < PAGES; i++) {
          blocks[i] = one.pool.lease();
          batch.read(blocks[i], peer, other.memory.address() + place(one, blocks[i]) * PAGE);
        }
        assertTrue(batch.submit().await(Deadline.after(Duration.ofSeconds(60))));
        for (int i = 0; i < PAGES; i += 7) {
          int at = one.pool.blockIndex(blocks[i]);
          for (long inner : new long[]{0, PAGE - 8})
            assertEquals((1L << 40) + place(one, blocks[i]) * PAGE + inner, one.word(at * PAGE + inner), "page " + at);
        }
        one.fill(7);
        batch.clear();
        for (long block : blocks)
          batch.write(block, peer, other.memory.address() + place(one, block) * PAGE);
        assertTrue(batch.submit().await(Deadline.after(Duration.ofSeconds(60))));
        for (long block : blocks)
          one.pool.release(block);
        long at = 7L * one.pool.blockIndex(blocks[5]) % PAGES;
        assertEquals(7 + one.pool.blockIndex(blocks[5]) * PAGE, other.word(at * PAGE));
      }
    }
  }

  /** Where the peer has the page of a block: another place, each once. */
  private static long place(Side side, long block) {
    return 7L * side.pool.blockIndex(block) % PAGES;
  }

  @Test
  @DisplayName("whether NIXL takes a GPU's memory is found out by trial; the reason why not is the library's, with what to do")
  void trial() {
    try (Device gpu = Device.open("host", 0)) {
      assertEquals("", NixlTrial.missing(gpu, NixlTestRuntime.options()));
      long free = gpu.freeBytes();
      String missing = NixlTrial.missing(gpu, NixlTestRuntime.options().withProtocol("NONE"));
      assertTrue(missing.contains("no backend NONE"), missing);
      assertEquals(free, gpu.freeBytes());
      DeviceCapabilities own = DeviceCapabilities.of(gpu, "it was not tried", "").withoutSharing("no IPC");
      assertEquals(DevicePath.NIXL, PathChoice.between(own.withNixl(""), own.withNixl("")).path());
      assertTrue(message(PathUnavailableException.class, () -> PathChoice.between(own.withNixl(""), own))
          .contains("nixl: it was not tried"));
    }
  }

  @Test
  @DisplayName("K5.11 memory that is said to be a GPU's, where there is none, is refused at registration with what to look at")
  void noGpu() {
    EpochGate gate = new EpochGate(new WeightEpoch("nixl", 1));
    try (Device gpu = Device.open("host", 0);
        DeviceSlab memory = gpu.allocate("pool", PAGE);
        TransferEngine engine = TransferEngine.open(NixlTestRuntime.options(), gate);
        Slab slab = Slab.ofOwner("pool", memory.address(), memory.byteSize(), new Elsewhere())) {
      EngineException refused = assertThrows(EngineException.class, () -> engine.register(slab));
      String why = String.valueOf(refused.getMessage());
      assertTrue(why.contains("cuda:3") && why.contains("UCX_TLS") && why.contains("CUDA modules"), why);
      assertEquals(0, engine.registrations());
    }
  }

  /** Claims that host memory is a GPU's. */
  private record Elsewhere() implements SlabOwner {
    @Override
    public String place() {
      return "cuda:3";
    }

    @Override
    public void run(Runnable call) {
      call.run();
    }

    @Override
    public void release() {}
  }
}
