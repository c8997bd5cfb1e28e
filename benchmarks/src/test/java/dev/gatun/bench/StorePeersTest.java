package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the figures rest on: that every peer moves the bytes, and that no put is one of a key that is there. */
class StorePeersTest {
  private static final StoreCell CELL = new StoreCell(4_096, 16);

  private final EpochGate gate = new EpochGate(new WeightEpoch("test", 0));

  private interface Check {
    void of(CellMemory memory, StorePeer peer);
  }

  private void each(Check check) {
    StoreOptions store = StoreOptions.loopback("peers", 64 << 20);
    try (Slab slab = Slab.allocate(SlabOptions.of("peers", CELL.bytes()));
        PeerSet peers = PeerSet.open(store, LaunchOptions.PEERS, slab, gate);
        CellMemory memory = new CellMemory(CELL, slab, gate)) {
      List<StorePeer> all = peers.of(memory);
      assertEquals(LaunchOptions.PEERS, all.stream().map(StorePeer::name).toList());
      for (StorePeer peer : all) {
        try (peer) {
          check.of(memory, peer);
        }
      }
    }
  }

  @Test
  @DisplayName("every peer gets back the bytes that it put")
  void bytes() {
    each((memory, peer) -> memory.verify(peer));
  }

  @Test
  @DisplayName("after a put no key is left, so that the next put copies again")
  void putsCopy() {
    each((memory, peer) -> {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment nanos = arena.allocate(ValueLayout.JAVA_LONG, 3);
        peer.run(StoreOperation.PUT, 3, nanos);
        assertThrows(IllegalStateException.class, () -> peer.run(StoreOperation.GET, 1, nanos));
      }
    });
  }

  @Test
  @DisplayName("memory that holds other bytes than were put is noticed")
  void otherBytes() {
    each((memory, peer) -> {
      StorePeer lazy = new LazyPeer(peer);
      assertThrows(IllegalStateException.class, () -> memory.verify(lazy));
      peer.removeAll();
    });
  }

  /** Says that it got, and did not. */
  private record LazyPeer(StorePeer peer) implements StorePeer {
    @Override
    public boolean runs(StoreOperation operation) {
      return true;
    }

    @Override
    public String name() {
      return "lazy " + peer.name();
    }

    @Override
    public void run(StoreOperation operation, int iterations, MemorySegment nanos) {}

    @Override
    public long allocatedBytes(StoreOperation operation, int iterations) {
      return 0;
    }

    @Override
    public void store() {
      peer.store();
    }

    @Override
    public void removeAll() {
      peer.removeAll();
    }

    @Override
    public void close() {}
  }
}
