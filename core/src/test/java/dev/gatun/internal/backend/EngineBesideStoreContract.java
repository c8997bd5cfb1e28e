package dev.gatun.internal.backend;

import static dev.gatun.bindings.mooncake.MooncakeEngineC.OPCODE_WRITE;
import static dev.gatun.bindings.mooncake.MooncakeEngineC.STATUS_COMPLETED;
import static dev.gatun.bindings.mooncake.MooncakeEngineC.STATUS_PENDING;
import static dev.gatun.bindings.mooncake.MooncakeEngineC.STATUS_WAITING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.bindings.mooncake.MooncakeEngineC;
import dev.gatun.bindings.mooncake.transfer_request;
import dev.gatun.bindings.mooncake.transfer_status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Store and transfer engine of one library set, side by side in one process. */
@Timeout(180)
abstract class EngineBesideStoreContract {
  private static final int TRANSFERS = 1_000;
  private static final int BYTES = 4096;

  abstract StoreBackend open();

  @Test
  @DisplayName("K14.05 a thousand transfers on two engines and a thousand puts and gets on a store, at the same time")
  void sideBySide() {
    try (StoreBackend store = open(); Arena arena = Arena.ofShared()) {
      Engine source = new Engine(arena, 1);
      Engine target = new Engine(arena, 2);
      try {
        CompletableFuture<Integer> puts = CompletableFuture.supplyAsync(() -> putsAndGets(store, arena));
        assertEquals(TRANSFERS, source.write(target, arena));
        assertEquals(TRANSFERS, puts.join());
        assertEquals(-1, source.memory.mismatch(target.memory));
      } finally {
        source.close();
        target.close();
      }
      store.removeAll(true);
    }
  }

  private static int putsAndGets(StoreBackend store, Arena arena) {
    MemorySegment config = store.encodeReplicate(ReplicateOptions.DEFAULT, arena);
    MemorySegment page = arena.allocate(BYTES);
    MemorySegment room = arena.allocate(BYTES);
    int good = 0;
    for (int i = 0; i < TRANSFERS; i++) {
      MemorySegment key = arena.allocateFrom("beside-" + i);
      page.fill((byte) i);
      if (store.put(key, page, BYTES, config) == 0 && store.get(key, room, BYTES) == BYTES && page.mismatch(room) < 0) {
        good++;
      }
    }
    return good;
  }

  /** One engine with one registered page. */
  private static final class Engine {
    private final MemorySegment engine;
    private final MemorySegment memory;
    private final String name;

    Engine(Arena arena, int seed) {
      engine = MooncakeEngineC.createTransferEngine(arena.allocateFrom("P2PHANDSHAKE"),
          arena.allocateFrom("127.0.0.1:" + (12_001 + seed)), arena.allocateFrom("127.0.0.1"), 12_001 + seed, 0);
      assertNotEquals(0, engine.address());
      assertNotEquals(0,
          MooncakeEngineC.installTransport(engine, arena.allocateFrom("tcp"), MemorySegment.NULL).address());
      memory = arena.allocate(BYTES, 4096).fill((byte) seed);
      assertEquals(0, MooncakeEngineC.registerLocalMemory(engine, memory, BYTES, arena.allocateFrom("cpu:0"), 1));
      MemorySegment buffer = arena.allocate(256);
      assertEquals(0, MooncakeEngineC.getLocalIpAndPort(engine, buffer, 256));
      name = buffer.getString(0);
    }

    int write(Engine target, Arena arena) {
      int segment = MooncakeEngineC.openSegment(engine, arena.allocateFrom(target.name));
      assertTrue(segment >= 0, "segment " + segment);
      MemorySegment request = transfer_request.allocate(arena);
      transfer_request.opcode(request, OPCODE_WRITE());
      transfer_request.source(request, memory);
      transfer_request.target_id(request, segment);
      transfer_request.target_offset(request, target.memory.address());
      transfer_request.length(request, BYTES);
      MemorySegment status = transfer_status.allocate(arena);
      int completed = 0;
      for (int i = 0; i < TRANSFERS; i++) {
        long batch = MooncakeEngineC.allocateBatchID(engine, 1);
        assertEquals(0, MooncakeEngineC.submitTransfer(engine, batch, request, 1));
        do {
          assertEquals(0, MooncakeEngineC.getTransferStatus(engine, batch, 0, status));
        } while (transfer_status.status(status) == STATUS_WAITING()
            || transfer_status.status(status) == STATUS_PENDING());
        if (transfer_status.status(status) == STATUS_COMPLETED()) completed++;
        assertEquals(0, MooncakeEngineC.freeBatchID(engine, batch));
      }
      return completed;
    }

    void close() {
      MooncakeEngineC.unregisterLocalMemory(engine, memory);
      MooncakeEngineC.destroyTransferEngine(engine);
    }
  }
}
