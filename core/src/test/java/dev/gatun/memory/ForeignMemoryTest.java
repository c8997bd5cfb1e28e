package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochGate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ForeignMemoryTest {
  private final EpochGate gate = Refits.gate();

  @Test
  @DisplayName("a pool on adopted memory works, and freeing stays with the owner")
  void adopt() {
    try (Arena owner = Arena.ofShared()) {
      MemorySegment memory = owner.allocate(1024, 64);
      Slab slab = Slab.adopt("engine", memory);
      try (BlockPool pool = BlockPool.over(slab, new PoolLayout(512, 2), gate)) {
        long block = pool.lease();
        pool.page(block).fill((byte) 7);
        assertEquals(memory.address(), pool.blockAddress(block) - 512L * BlockWord.index(block));
        pool.release(block);
      }
      slab.close();
      memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    }
  }

  @Test
  @DisplayName("once the owner has closed its arena, the slab gives no address and no page, and nothing faults")
  @SuppressWarnings("MustBeClosedChecker") // closed half-way, which is the point
  void ownerCloses() {
    Arena owner = Arena.ofShared();
    Slab slab = Slab.adopt("engine", owner.allocate(1024, 64));
    BlockPool pool = BlockPool.over(slab, new PoolLayout(512, 2), gate, PoolOptions.named("engine").poisoned());
    long block = pool.lease();
    MemorySegment page = pool.page(block);
    owner.close();
    assertFalse(slab.isOpen());
    assertThrows(ClosedException.class, () -> pool.blockAddress(block));
    assertThrows(IllegalStateException.class, () -> page.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(ClosedException.class, () -> slab.register(new CountingRegistrar("native")));
    assertThrows(ClosedException.class, () -> BlockPool.over(slab, new PoolLayout(1, 1), gate));
    pool.release(block);
    assertEquals(2, pool.available());
    pool.close();
    slab.close();
  }

  @Test
  @DisplayName("memory that cannot serve is refused by name: heap, empty, read-only, confined, closed")
  void refused() {
    MemorySegment gone;
    try (Arena closed = Arena.ofShared()) {
      gone = closed.allocate(64);
    }
    try (Arena confined = Arena.ofConfined(); Arena shared = Arena.ofShared()) {
      refused("must be off-heap", MemorySegment.ofArray(new byte[8]));
      refused("must not be empty", shared.allocate(64).asSlice(0, 0));
      refused("must be writable", shared.allocate(64).asReadOnly());
      refused("not a confined one", confined.allocate(64));
      refused("must be of an open arena", gone);
    }
    assertThrows(IllegalArgumentException.class, () -> Slab.adoptAddress("null", 0, 1));
    assertThrows(IllegalArgumentException.class, () -> Slab.adoptAddress("empty", 4096, 0));
    assertThrows(IllegalArgumentException.class, () -> Slab.adoptAddress("wraps", Long.MAX_VALUE, 2));
  }

  @Test
  @DisplayName("a bare address can be adopted")
  void address() {
    try (Arena owner = Arena.ofShared()) {
      MemorySegment memory = owner.allocate(128, 64);
      Slab slab = Slab.adoptAddress("pointer", memory.address(), 128);
      slab.segment().set(ValueLayout.JAVA_BYTE, 127, (byte) 3);
      assertEquals(3, memory.get(ValueLayout.JAVA_BYTE, 127));
      slab.close();
    }
  }

  @Test
  @DisplayName("adopting needs native access for the caller's module, and the refusal names the flag")
  void restricted() {
    // a proxy class lives in a module of its own, which nobody grants anything
    Class<?> caller = Proxy.newProxyInstance(Runnable.class.getClassLoader(), new Class<?>[]{Runnable.class},
        (proxy, method, arguments) -> null).getClass();
    Module without = caller.getModule();
    String message = assertThrows(IllegalCallerException.class,
        () -> ForeignMemory.requireNativeAccess(caller, "Slab.adopt"))
        .toString();
    assertTrue(message.contains("--enable-native-access=" + without.getName()), message);
    ForeignMemory.requireNativeAccess(ForeignMemoryTest.class, "Slab.adopt");
  }

  @Test
  @DisplayName("K5.01 overlapping views become one slab, neighbours stay apart, and every view lies in one of them")
  void overlaps() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment all = arena.allocate(400, 64);
      List<MemorySegment> views = new ArrayList<>();
      for (long[] range : new long[][]{{150, 200}, {50, 150}, {300, 400}, {0, 100}, {60, 70}}) {
        views.add(all.asSlice(range[0], range[1] - range[0]));
      }
      List<Slab> slabs = Slab.adoptViews("hybrid", views);
      List<List<Long>> ranges = slabs.stream()
          .map(slab -> List.of(slab.segment().address() - all.address(), slab.byteSize())).toList();
      assertEquals(List.of(List.of(0L, 150L), List.of(150L, 50L), List.of(300L, 100L)), ranges);
      for (MemorySegment view : views) {
        assertEquals(1, slabs.stream().filter(slab -> slab.contains(view)).count());
      }
      assertFalse(slabs.getFirst().contains(all.asSlice(149, 2)));
      assertFalse(slabs.getLast().contains(MemorySegment.ofArray(new byte[1])));
      slabs.forEach(Slab::close);
    }
  }

  @Test
  @DisplayName("K5.01 overlapping views of different arenas cannot be watched as one, and are refused")
  void overlapOfArenas() {
    try (Arena one = Arena.ofShared(); Arena two = Arena.ofShared()) {
      MemorySegment memory = one.allocate(128, 64);
      MemorySegment alias = MemorySegment.ofAddress(memory.address() + 64).reinterpret(64, two, null);
      assertThrows(IllegalArgumentException.class, () -> Slab.adoptViews("alias", List.of(memory, alias)));
    }
  }

  private static void refused(String message, MemorySegment memory) {
    String said = assertThrows(IllegalArgumentException.class, () -> Slab.adopt("bad", memory)).toString();
    assertTrue(said.contains(message), said);
  }
}
