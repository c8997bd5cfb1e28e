package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.testing.SizeLimit;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SlabTest {
  private final EpochGate gate = Refits.gate();

  @Test
  @DisplayName("a slab is page aligned, zero, rounded up to whole pages, and counted until closed")
  void allocate() {
    MemoryBudget budget = MemoryBudget.capped("test", 1 << 20);
    Slab slab = Slab.allocate(SlabOptions.of("small", 5000).within(budget).prefaulted());
    long page = MemoryCalls.get().pageBytes();
    assertEquals(0, slab.segment().address() % page);
    assertEquals(Math.ceilDiv(5000, page) * page, slab.byteSize());
    assertEquals(0, slab.segment().get(ValueLayout.JAVA_BYTE, slab.byteSize() - 1));
    assertEquals(slab.byteSize(), budget.usedBytes());
    assertTrue(slab.location().contains("prefaulted"), slab.location());
    slab.close();
    slab.close();
    assertEquals(0, budget.usedBytes());
    assertFalse(slab.isOpen());
    assertThrows(IllegalStateException.class, () -> slab.segment().get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(ClosedException.class, () -> slab.register(new CountingRegistrar("late")));
    assertThrows(ClosedException.class, () -> BlockPool.over(slab, new PoolLayout(64, 1), gate));
  }

  @Test
  @DisplayName("K4.05 segments over 2 and over 4 GiB are one slab, one pool, one registration")
  void large() {
    // untouched pages cost no memory, only address space
    MemoryBudget budget = MemoryBudget.capped("large", 1L << 40);
    for (long gib : new long[]{3, 5}) {
      long bytes = gib << 30;
      try (Slab slab = Slab.allocate(SlabOptions.of("large", bytes).within(budget))) {
        CountingRegistrar registrar = new CountingRegistrar("native");
        try (Registration registration = slab.register(registrar)) {
          assertEquals(bytes, registrar.registeredBytes);
          assertEquals(List.of("register"), registrar.events);
          assertTrue(registration.isOpen());
        }
        try (BlockPool pool = BlockPool.over(slab, new PoolLayout(1L << 30, (int) gib), gate)) {
          long last = 0;
          for (int i = 0; i < gib; i++) {
            long block = pool.lease();
            last = Math.max(last, pool.blockAddress(block));
            pool.page(block).set(ValueLayout.JAVA_BYTE, (1L << 30) - 1, (byte) 1);
          }
          assertEquals(slab.segment().address() + bytes - (1L << 30), last);
        }
        assertEquals(1, slab.segment().get(ValueLayout.JAVA_BYTE, bytes - 1));
      }
    }
  }

  @Test
  @DisplayName("K13.12 a slab beyond the cap is refused with its own exception, and the gauge stays right")
  void budget() {
    MemoryBudget budget = MemoryBudget.capped("tight", 1 << 20);
    try (Slab slab = Slab.allocate(SlabOptions.of("half", 1 << 19).within(budget))) {
      String message = assertThrows(MemoryBudgetException.class,
          () -> Slab.allocate(SlabOptions.of("too much", (1 << 19) + 1).within(budget))).toString();
      assertTrue(message.contains("524288 of 1048576 in use"), message);
      assertEquals(1 << 19, budget.usedBytes());
      assertTrue(slab.isOpen());
    }
    assertEquals(0, budget.usedBytes());
    assertThrows(RuntimeException.class, () -> Slab.allocate(SlabOptions.of("node", 4096).onNode(1023).within(budget)));
    assertEquals(0, budget.usedBytes(), "a refused mapping is given back");
  }

  @Test
  @DisplayName("K13.12 a cap above what the container allows is warned of at start, with both numbers")
  void budgetAboveContainer() {
    String warning = MemoryBudget.excess("pages", 2000, 1000).orElseThrow();
    assertTrue(warning.contains("2000") && warning.contains("1000"), warning);
    assertTrue(MemoryBudget.excess("pages", 1000, 1000).isEmpty());
  }

  @ParameterizedTest
  @EnumSource(HugePages.class)
  @DisplayName("a slab says which pages it got, or why it got none and how to get them")
  void hugePages(HugePages pages) {
    SlabOptions options = SlabOptions.of("huge", 4096).withHugePages(pages);
    try (Slab slab = Slab.allocate(options)) {
      assertTrue(slab.location().contains(switch (pages) {
        case NONE -> MemoryCalls.get().pageBytes() + " B";
        case TRANSPARENT -> "merging";
        case RESERVED_2M -> "2 MiB, reserved";
        case RESERVED_1G -> "1 GiB, reserved";
      }), slab.location());
      slab.segment().set(ValueLayout.JAVA_BYTE, slab.byteSize() - 1, (byte) 1);
    } catch (SlabException e) {
      assertTrue(pages.bytes() > 0, "ordinary pages must be had: " + e);
      assertTrue(e.toString().contains("nr_hugepages"), e.toString());
    } catch (MemoryBudgetException e) {
      assertEquals(HugePages.RESERVED_1G, pages, "only 1 GiB may exceed a small machine: " + e);
    }
  }

  @Test
  @DisplayName("NUMA: an existing node is bound or refused with the reason; one that cannot exist names those online")
  void numa() {
    try (Slab slab = Slab.allocate(SlabOptions.of("node 0", 4096).onNode(0).prefaulted())) {
      assertTrue(slab.location().contains("node 0"), slab.location());
    } catch (SlabException e) {
      assertTrue(e.toString().contains("numaNode 0 refused"), e.toString());
    }
    String message = assertThrows(SlabException.class,
        () -> Slab.allocate(SlabOptions.of("node 1023", 4096).onNode(1023))).toString();
    assertTrue(message.contains("numaNode 1023 refused"), message);
    if (Files.exists(Path.of("/sys/devices/system/node/online"))) assertTrue(message.contains("online"), message);
  }

  @Test
  @DisplayName("K5.02 80 slices of one slab are one registration; freeing slices keeps it, closing the slab needs its end")
  void oneRegistration() {
    CountingRegistrar registrar = new CountingRegistrar("native");
    Slab slab = Slab.allocate(SlabOptions.of("shared", 80 * 4096));
    Registration registration = slab.register(registrar);
    List<BlockPool> pools = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      pools.add(BlockPool.over(slab, new PoolLayout(4096, 1), gate, PoolOptions.named("slice " + i)));
    }
    assertThrows(IllegalArgumentException.class, () -> BlockPool.over(slab, new PoolLayout(1, 1), gate));
    assertThrows(IllegalStateException.class, () -> slab.register(registrar), "whole, once");
    assertThrows(InUseException.class, slab::close);
    for (BlockPool pool : pools)
      pool.close();
    assertEquals(List.of("register"), registrar.events);
    String message = assertThrows(InUseException.class, slab::close).toString();
    assertTrue(message.contains("registered with native"), message);
    registration.close();
    registration.close();
    slab.close();
    assertEquals(List.of("register", "unregister"), registrar.events);
    assertEquals(0, registrar.registeredBytes);
  }

  @Test
  @DisplayName("the parts of a slab are given out anew once all its pools are closed")
  void partsComeBack() {
    try (Slab slab = Slab.allocate(SlabOptions.of("reused", 8192))) {
      for (int round = 0; round < 3; round++) {
        BlockPool first = BlockPool.over(slab, new PoolLayout(4096, 1), gate, PoolOptions.named("first"));
        try (BlockPool second = BlockPool.over(slab, new PoolLayout(4096, 1), gate, PoolOptions.named("second"))) {
          first.close();
          assertThrows(IllegalArgumentException.class, () -> BlockPool.over(slab, new PoolLayout(4096, 1), gate));
          assertEquals(4096, second.pageBytes());
        }
      }
    }
  }

  @Test
  @DisplayName("K5.09 a locked-memory limit below the slab gives a hint with the limit and the bytes")
  void memlockHint() {
    long limit = MemoryCalls.get().memlockBytes();
    MemoryBudget budget = MemoryBudget.capped("memlock", 1L << 40);
    try (Slab slab = Slab.allocate(SlabOptions.of("locked", 3L << 30).within(budget))) {
      if (limit >= slab.byteSize()) {
        assertTrue(slab.memlockHint().isEmpty());
      } else {
        String hint = slab.memlockHint().orElseThrow();
        assertTrue(hint.contains(Long.toString(limit)) && hint.contains(Long.toString(slab.byteSize())), hint);
        assertTrue(hint.contains("ulimit -l"), hint);
      }
    }
  }

  @Test
  @DisplayName("K5.09 a slab that its backend cannot register is refused; adopted memory, which may be a GPU's, is not")
  void requiresRegistrable() {
    try (Slab slab = Slab.allocate(SlabOptions.of("large", 8192));
        Slab adopted = Slab.adopt("adopted", slab.segment())) {
      slab.requireRegistrable(new SizeLimit(8192), "store x");
      String refusal = assertThrows(GatunException.class, () -> slab.requireRegistrable(new SizeLimit(8191), "store x"))
          .getMessage();
      assertEquals("register " + slab + " with store x refused: 8192 bytes are more than 8191", refusal);
      adopted.requireRegistrable(new SizeLimit(8191), "store x");
      assertEquals("; hint for 8192 bytes and code -12", slab.registrationHint(new SizeLimit(1), -12));
    }
  }

  @Test
  @DisplayName("K5.14 closing goes transfers, registrations, memory, with 100 registrations left over")
  void closeOrder() {
    Slab slab = Slab.allocate(SlabOptions.of("ordered", 4096));
    BlockPool pool = BlockPool.over(slab, new PoolLayout(64, 4), gate);
    List<CountingRegistrar> registrars = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      registrars.add(new CountingRegistrar("library " + i));
      slab.register(registrars.getLast());
    }
    long block = pool.lease();
    pool.beginRead(block);
    assertThrows(InUseException.class, pool::close);
    assertThrows(InUseException.class, slab::close);
    pool.endRead(block);
    pool.release(block);
    pool.close();
    assertThrows(InUseException.class, slab::close);
    assertTrue(slab.isOpen());
    for (Registration registration : slab.registrations())
      registration.close();
    slab.close();
    for (CountingRegistrar registrar : registrars) {
      assertEquals(List.of("register", "unregister"), registrar.events);
      assertEquals(0, registrar.registeredBytes);
    }
  }

  @Test
  @DisplayName("K5.15 a registration that failed half-way is not undone, the others are, before the memory goes")
  void failedRegistration() {
    CountingRegistrar good = new CountingRegistrar("good");
    CountingRegistrar bad = new CountingRegistrar("bad");
    bad.failRegister = true;
    Slab slab = Slab.allocate(SlabOptions.of("half", 4096));
    slab.register(good);
    assertThrows(IllegalStateException.class, () -> slab.register(bad));
    assertEquals(1, slab.registrations().size());
    assertThrows(InUseException.class, slab::close);
    slab.registrationWith(good).orElseThrow().close();
    assertTrue(slab.registrationWith(bad).isEmpty());
    slab.close();
    assertEquals(List.of("register"), bad.events);
  }

  @Test
  @DisplayName("a failed unregistration leaves the registration open, to be tried again")
  void failedUnregistration() {
    CountingRegistrar registrar = new CountingRegistrar("stubborn");
    Slab slab = Slab.allocate(SlabOptions.of("kept", 4096));
    Registration registration = slab.register(registrar);
    registrar.failUnregister = true;
    assertThrows(IllegalStateException.class, registration::close);
    assertTrue(registration.isOpen());
    assertThrows(InUseException.class, slab::close);
    registrar.failUnregister = false;
    registration.close();
    slab.close();
  }

  @Test
  @DisplayName("K6.05 unregistering under a running transfer is refused before native code hears of it")
  void unregisterInFlight() {
    CountingRegistrar registrar = new CountingRegistrar("busy");
    Slab slab = Slab.allocate(SlabOptions.of("busy", 4096));
    Registration registration = slab.register(registrar);
    registrar.running = 3;
    String message = assertThrows(InUseException.class, registration::close).toString();
    assertTrue(message.contains("3 transfers in flight"), message);
    assertThrows(InUseException.class, () -> registration.close(Deadline.after(Duration.ofMillis(1))));
    assertEquals(List.of("register"), registrar.events);
    registrar.running = 0;
    registration.close(Deadline.after(Duration.ofSeconds(10)));
    slab.close();
  }

  @Test
  @DisplayName("a pool does not free its own slab while it is registered")
  void ownedSlabRegistered() {
    BlockPool pool = BlockPool.allocate(new PoolLayout(64, 1), gate);
    Registration registration = pool.slab().register(new CountingRegistrar("native"));
    assertThrows(InUseException.class, pool::close);
    pool.release(pool.lease());
    registration.close();
    pool.close();
    assertFalse(pool.slab().isOpen());
  }

  @Test
  @DisplayName("K17.05 10,000 blocks later, the slab was registered once")
  void noRegistrationOnTheDataPath() {
    CountingRegistrar registrar = new CountingRegistrar("native");
    BlockPool pool = BlockPool.allocate(new PoolLayout(64, 16), gate);
    Registration registration = pool.slab().register(registrar);
    for (int i = 0; i < 10_000; i++) {
      long block = pool.lease();
      pool.beginWrite(block);
      pool.endWrite(block, true);
      pool.beginRead(block);
      pool.endRead(block);
      pool.release(block);
    }
    assertEquals(List.of("register"), registrar.events);
    registration.close();
    pool.close();
  }

  @Test
  @DisplayName("K13.05 closing during a native call that holds the segment is refused in our words; later it works")
  void closeDuringCall() throws Exception {
    try (BlockedWrite write = new BlockedWrite()) {
      Slab slab = Slab.allocate(SlabOptions.of("held", BlockedWrite.BYTES));
      Thread writer = Thread.ofPlatform().start(() -> write.from(slab.segment()));
      write.awaitBegun();
      String message = assertThrows(InUseException.class, slab::close).toString();
      assertTrue(message.contains("a native call holds its segment"), message);
      assertTrue(slab.isOpen());
      slab.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
      write.finish();
      writer.join();
      slab.close();
    }
  }

  @Test
  @DisplayName("K17.04 the leak report says nothing after an explicit close, and never throws")
  void leakReport() {
    SlabLeak leak = new SlabLeak("slab x");
    assertTrue(leak.report().orElseThrow().contains("slab x was dropped without close"));
    leak.run();
    leak.forget();
    assertTrue(leak.report().isEmpty());
    leak.run();
    try (Slab slab = Slab.allocate(SlabOptions.of("closed", 4096))) {
      assertTrue(slab.isOpen());
    }
  }

  @Test
  @DisplayName("impossible options are refused with field, value and what is allowed")
  void options() {
    refused("bytes must be positive: 0", () -> SlabOptions.of("s", 0));
    refused("name must not be blank: \" \"", () -> SlabOptions.of(" ", 1));
    refused("numaNode must be 0 to 1023, or -1 for any: 1024", () -> SlabOptions.of("s", 1).onNode(1024));
    refused("capBytes must be positive: 0", () -> MemoryBudget.capped("b", 0));
    refused("bytes must leave room", () -> Slab.allocate(SlabOptions.of("s", Long.MAX_VALUE)));
    refused("pageBytes must be positive: -5", () -> new PoolLayout(-5, 1));
    refused("pageCount must be 1 to 67108863: 0", () -> new PoolLayout(1, 0));
    refused("headerBytes must be a multiple of 64 from 0 to 4096: 65", () -> new PoolLayout(1, 1, 65));
    refused("pageBytes * pageCount must stay below 2^63", () -> new PoolLayout(Long.MAX_VALUE / 2, 3));
    refused("name must not be blank", () -> PoolOptions.named(""));
    assertEquals(18_432, new PoolLayout(18_432, 1).strideBytes());
    assertEquals(128, new PoolLayout(65, 1).strideBytes());
    assertEquals(128, new PoolLayout(1, 1, 64).strideBytes());
  }

  private static void refused(String message, Executable call) {
    String said = assertThrows(IllegalArgumentException.class, call).toString();
    assertTrue(said.contains(message), said);
  }
}
