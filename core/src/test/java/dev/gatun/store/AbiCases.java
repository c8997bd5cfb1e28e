package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Answers of the library to what a store never sends: the store relies on refusing it, other clients may not. */
final class AbiCases {
  private AbiCases() {}

  static List<ContractCase> all() {
    return List.of(ContractCase.always("a put of no bytes in a batch fails its own key", AbiCases::noBytes),
        ContractCase.always("no replicas are refused", AbiCases::noReplicas),
        ContractCase.always("a pattern is searched anywhere in the key; a bad one is refused", AbiCases::pattern),
        ContractCase.always("an empty batch is success", AbiCases::emptyBatch),
        ContractCase.always("memory is registered once and unregistered once", AbiCases::registration));
  }

  private static MemorySegment column(Arena arena, long... values) {
    return arena.allocateFrom(ValueLayout.JAVA_LONG, values);
  }

  private static void noBytes(ContractBench bench) {
    StoreBackend backend = bench.backend();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment page = arena.allocate(64);
      MemorySegment codes = arena.allocate(ValueLayout.JAVA_INT, 2);
      MemorySegment keys = column(arena, arena.allocateFrom("none").address(), arena.allocateFrom("some").address());
      assertEquals(0, backend.batchPut(keys, column(arena, page.address(), page.address()), column(arena, 0, 64), 2,
          backend.encodeReplicate(ReplicateOptions.DEFAULT, arena), codes));
      assertEquals(-600, codes.getAtIndex(ValueLayout.JAVA_INT, 0));
      assertEquals(0, codes.getAtIndex(ValueLayout.JAVA_INT, 1));
      assertEquals(0, backend.exists(arena.allocateFrom("none")));
      assertEquals(1, backend.exists(arena.allocateFrom("some")));
    }
  }

  private static void noReplicas(ContractBench bench) {
    StoreBackend backend = bench.backend();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment none = backend.encodeReplicate(ReplicateOptions.DEFAULT, arena);
      none.set(ValueLayout.JAVA_LONG, 0, 0);
      assertEquals(-600, backend.put(arena.allocateFrom("key"), arena.allocate(64), 64, none));
      assertEquals(0, backend.exists(arena.allocateFrom("key")));
    }
  }

  private static void pattern(ContractBench bench) {
    StoreBackend backend = bench.backend();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment plain = backend.encodeReplicate(ReplicateOptions.DEFAULT, arena);
      for (String key : List.of("abc", "xabcx", "acb")) {
        assertEquals(0, backend.put(arena.allocateFrom(key), arena.allocate(64), 64, plain));
      }
      assertEquals(2, backend.removeMatching(arena.allocateFrom("bc"), false));
      assertEquals(1, backend.exists(arena.allocateFrom("acb")));
      assertEquals(-600, backend.removeMatching(arena.allocateFrom("("), false));
    }
  }

  private static void emptyBatch(ContractBench bench) {
    StoreBackend backend = bench.backend();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment column = arena.allocate(ValueLayout.JAVA_LONG, 1);
      assertEquals(0, backend.batchPut(column, column, column, 0,
          backend.encodeReplicate(ReplicateOptions.DEFAULT, arena), column));
      assertEquals(0, backend.batchGet(column, column, column, 0, column));
      assertEquals(0, backend.batchExists(column, 0, column));
    }
  }

  private static void registration(ContractBench bench) {
    StoreBackend backend = bench.backend();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(8192, 4096);
      assertEquals(0, backend.register(memory));
      assertEquals(-600, backend.register(memory));
      assertEquals(-600, backend.register(memory.asSlice(4096)));
      assertEquals(0, backend.unregister(memory));
      assertEquals(-600, backend.unregister(memory));
    }
  }
}
