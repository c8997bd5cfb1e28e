package dev.gatun.memory;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Slabs of memory that Java cannot touch. The address is nobody's: a single access would end the process. */
class OwnedSlabTest {
  private static final long ADDRESS = 0x7f00_0000_0000_0000L;
  private static final long BYTES = 1 << 20;

  private final AtomicInteger released = new AtomicInteger();
  private final SlabOwner owner = new SlabOwner() {
    @Override
    public String place() {
      return "cuda:3";
    }

    @Override
    public void run(Runnable call) {
      call.run();
    }

    @Override
    public void release() {
      released.incrementAndGet();
    }
  };
  private final EpochGate gate = Refits.gate();

  @Test
  @DisplayName("memory that Java cannot touch has an address and a size; every access throws, whatever way leads to it")
  void untouchable() {
    try (Slab slab = Slab.ofOwner("gpu", ADDRESS, BYTES, owner)) {
      assertEquals(ADDRESS, slab.segment().address());
      assertEquals(BYTES, slab.byteSize());
      assertTrue(slab.isOpen() && !slab.isHost());
      assertEquals("cuda:3", slab.place());
      assertThrows(WrongThreadException.class, () -> slab.segment().get(ValueLayout.JAVA_BYTE, 0));
      assertThrows(WrongThreadException.class, () -> slab.segment().fill((byte) 1));
      try (BlockPool pool = BlockPool.over(slab, new PoolLayout(4096, 8), gate)) {
        long block = pool.lease();
        assertEquals(ADDRESS + 4096L * pool.blockIndex(block), pool.blockAddress(block));
        assertThrows(WrongThreadException.class, () -> pool.page(block).get(ValueLayout.JAVA_LONG, 0));
        assertThrows(WrongThreadException.class, () -> pool.blockSegment(block).asByteBuffer().get());
        assertTrue(message(IllegalArgumentException.class, () -> pool.reserveNull(block)).contains("reserveNull"));
        assertFalse(pool.isNull(block));
        pool.release(block);
      }
      assertTrue(message(IllegalArgumentException.class,
          () -> BlockPool.over(slab, new PoolLayout(4096, 8), gate, PoolOptions.named("p").poisoned()))
          .contains("poison must be off"));
    }
    assertEquals(1, released.get());
  }

  @Test
  @DisplayName("K5.11 what takes memory of the host only refuses it at registration, by name, and is not asked")
  void refusedByHostRegistrars() {
    CountingRegistrar store = new CountingRegistrar("store");
    Slab slab = Slab.ofOwner("gpu", ADDRESS, BYTES, owner);
    String refused = message(GatunException.class, () -> slab.register(store));
    assertTrue(refused.contains("with store refused") && refused.contains("cuda:3"), refused);
    assertEquals(List.of(), store.events);
    assertEquals(List.of(), slab.registrations());
    slab.close();
    slab.close();
    assertEquals(1, released.get());
  }

  @Test
  @DisplayName("a range that is none is refused before the owner is asked for anything")
  void ranges() {
    assertThrows(IllegalArgumentException.class, () -> Slab.ofOwner("gpu", 0, BYTES, owner));
    assertThrows(IllegalArgumentException.class, () -> Slab.ofOwner("gpu", ADDRESS, 0, owner));
    assertThrows(IllegalArgumentException.class, () -> Slab.ofOwner("gpu", -1, BYTES, owner));
    assertEquals(0, released.get());
  }
}
