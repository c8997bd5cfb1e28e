package dev.gatun.transfer;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceSlab;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOwner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What an engine is told of memory in a GPU, and which engines take it. */
class DeviceMemoryTest {
  private static final long PAGE = 4096;

  private final EpochGate gate = new EpochGate(new WeightEpoch("device", 1));

  /** An engine that says that it takes a GPU's memory, and writes down what it is told. */
  private static SteeredBackend taking(List<String> told) {
    SteeredBackend backend = new SteeredBackend();
    backend.takesDeviceMemory = true;
    backend.beforeRegister = location -> told.add("register " + location);
    return backend;
  }

  @Test
  @DisplayName("K11.03 an engine that moves host memory only refuses a GPU's at registration, naming both")
  void refused() {
    try (Device gpu = Device.open("host", 0);
        DeviceSlab memory = gpu.allocate("cache", PAGE);
        Slab slab = memory.asSlab("cache");
        TransferEngine engine = TransferEngine.open(EngineOptions.loopback(), gate)) {
      String refused = message(GatunException.class, () -> engine.register(slab));
      assertTrue(refused.contains("takes memory of the host only") && refused.contains("loopback"), refused);
      assertEquals(0, engine.registrations());
    }
  }

  @Test
  @DisplayName("a GPU's memory does not close before its slab, nor the slab before its registration")
  void order() {
    List<String> told = new ArrayList<>();
    try (Device gpu = Device.open("host", 0);
        TransferEngine engine = TransferEngine.open(taking(told),
            EngineOptions.loopback(), gate)) {
      DeviceSlab memory = gpu.allocate("cache", PAGE);
      Slab slab = memory.asSlab("cache");
      engine.register(slab);
      assertThrows(InUseException.class, slab::close);
      assertThrows(InUseException.class, memory::close);
      engine.unregister(slab);
      assertThrows(InUseException.class, memory::close);
      slab.close();
      memory.close();
      assertEquals(List.of("register *"), told, "a GPU made of host memory is the host's to libraries");
    }
  }

  @Test
  @DisplayName("K5.05 the library is told the GPU's number, and each call that hands it the memory runs where the owner says")
  void place() {
    List<String> told = new ArrayList<>();
    try (Device gpu = Device.open("host", 0);
        DeviceSlab memory = gpu.allocate("cache", 2 * PAGE);
        Slab slab = Slab.ofOwner("cache", memory.address(), memory.byteSize(), new Told(told));
        BlockPool pool = BlockPool.over(slab, new PoolLayout(PAGE, 2), gate);
        TransferEngine engine = TransferEngine.open(taking(told), EngineOptions.loopback(), gate)) {
      engine.register(slab);
      assertEquals(List.of("enter", "register cuda:1", "leave"), told);
      assertEquals("cuda:1", engine.descriptor().ranges().getFirst().location());
      told.clear();
      try (Segment self = engine.openSegment(engine.descriptor()); TransferBatch batch = engine.batch(pool, 1)) {
        assertEquals(List.of("enter", "leave"), told);
        told.clear();
        long block = pool.lease();
        batch.write(block, self, pool.baseAddress() + PAGE * (1 - pool.blockIndex(block))).submit();
        assertEquals(List.of("enter", "leave"), told);
        assertFalse(pool.slab().isHost());
        assertTrue(batch.await(Deadline.after(Duration.ofSeconds(30))));
        pool.release(block);
      }
      told.clear();
      engine.unregister(slab);
      assertEquals(List.of("enter", "leave"), told);
    }
  }

  private record Told(List<String> told) implements SlabOwner {
    @Override
    public String place() {
      return "cuda:1";
    }

    @Override
    public void run(Runnable call) {
      told.add("enter");
      try {
        call.run();
      } finally {
        told.add("leave");
      }
    }

    @Override
    public void release() {}
  }

  @Test
  @DisplayName("K11.05 calls of a virtual thread are made by a platform thread, and what they throw arrives as it was thrown")
  void virtualThreads() throws InterruptedException {
    List<String> told = new ArrayList<>();
    SteeredBackend backend = taking(told);
    backend.beforeRegister = location -> {
      told.add("virtual " + Thread.currentThread().isVirtual());
      if (told.size() == 1)
        throw new EngineException("register",
            EngineCode.BACKEND, -2, "first");
    };
    try (Device gpu = Device.open("host", 0);
        DeviceSlab memory = gpu.allocate("cache", PAGE);
        Slab slab = memory.asSlab("cache");
        TransferEngine engine = TransferEngine.open(backend, EngineOptions.loopback(), gate)) {
      Thread.ofVirtual().start(() -> {
        told.add(message(EngineException.class, () -> engine.register(slab)));
        engine.register(slab);
      }).join();
      assertEquals(List.of("virtual false", "register(first) failed: BACKEND (-2)", "virtual false"), told);
      assertEquals(1, engine.registrations());
    }
  }
}
