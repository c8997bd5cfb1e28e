package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreOptions;
import dev.gatun.testing.Thrown;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.function.Executable;

/** Every call of the C ABI through a backend, with the codes that a store of either library answers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StoreBackendContract {
  private static final int ABSENT = -704;
  private static final int LEASED = -706;
  private static final int INVALID = -600;
  private static final byte UNTOUCHED = 0x5A;

  private final Arena arena = Arena.ofAuto();
  private StoreBackend store;
  private MemorySegment plain;
  private MemorySegment memory;

  /** Options of a store whose pool has at least 32 MiB. */
  abstract StoreOptions options();

  /** Opens through the provider of the library. */
  abstract StoreBackend open(StoreOptions options);

  @BeforeAll
  void openStore() {
    store = open(options());
    plain = store.encodeReplicate(ReplicateOptions.DEFAULT, arena);
    memory = arena.allocate(1 << 20, 4096);
  }

  @AfterAll
  void closeStore() {
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(30))));
  }

  @BeforeEach
  @AfterEach
  void empty() {
    assertTrue(store.removeAll(true) >= 0);
  }

  private MemorySegment text(String text) {
    return arena.allocateFrom(text);
  }

  private void fill(MemorySegment page, int seed) {
    for (long i = 0; i < page.byteSize(); i++)
      page.set(JAVA_BYTE, i, (byte) (seed + i * 31));
  }

  private MemorySegment addresses(MemorySegment... segments) {
    MemorySegment column = arena.allocate(ADDRESS, segments.length);
    for (int i = 0; i < segments.length; i++)
      column.setAtIndex(ADDRESS, i, segments[i]);
    return column;
  }

  private StoreCensus.Reading census() {
    return store.census().orElseThrow().read(Deadline.after(Duration.ofSeconds(5)));
  }

  private int put(String key, long bytes) {
    return store.put(text(key), memory, bytes, plain);
  }

  @Test
  @DisplayName("put, get, exists and size of one value, byte for byte")
  void single() {
    MemorySegment value = memory.asSlice(0, 5000);
    fill(value, 1);
    assertEquals(0, store.put(text("a"), value, 5000, plain));
    MemorySegment page = memory.asSlice(8192, 6000);
    page.fill(UNTOUCHED);
    assertEquals(5000, store.get(text("a"), page, 6000));
    assertEquals(-1, MemorySegment.mismatch(value, 0, 5000, page, 0, 5000));
    assertEquals(UNTOUCHED, page.get(JAVA_BYTE, 5000));
    assertEquals(1, store.exists(text("a")));
    assertEquals(5000, store.size(text("a")));
  }

  @Test
  @DisplayName("an absent key has its codes")
  void absent() {
    assertEquals(ABSENT, store.get(text("none"), memory, 100));
    assertEquals(ABSENT, store.size(text("none")));
    assertEquals(0, store.exists(text("none")));
    assertEquals(ABSENT, store.remove(text("none"), false));
    assertEquals(ABSENT, store.remove(text("none"), true));
  }

  @Test
  @DisplayName("K4.08 too little room is -600 and writes nothing")
  void shortBuffer() {
    assertEquals(0, put("a", 100));
    MemorySegment page = memory.asSlice(4096, 99);
    page.fill(UNTOUCHED);
    assertEquals(INVALID, store.get(text("a"), page, 99));
    for (int i = 0; i < 99; i++)
      assertEquals(UNTOUCHED, page.get(JAVA_BYTE, i));
  }

  @Test
  @DisplayName("an existing key keeps its bytes and answers 0")
  void existingKey() {
    assertEquals(0, put("a", 100));
    assertEquals(0, put("a", 200));
    assertEquals(100, store.size(text("a")));
  }

  @Test
  @DisplayName("K4.08 a batch answers for each key: stored, found, absent, too short")
  void batch() {
    MemorySegment first = memory.asSlice(0, 4096);
    MemorySegment second = memory.asSlice(4096, 4096);
    fill(first, 7);
    fill(second, 9);
    MemorySegment codes = arena.allocate(JAVA_INT, 2);
    codes.fill(UNTOUCHED);
    assertEquals(0, store.batchPut(addresses(text("a"), text("b")), addresses(first, second),
        arena.allocateFrom(JAVA_LONG, 4096, 100), 2, plain, codes));
    assertEquals(0, codes.getAtIndex(JAVA_INT, 0));
    assertEquals(0, codes.getAtIndex(JAVA_INT, 1));
    MemorySegment room = memory.asSlice(65_536, 3 * 4096);
    room.fill(UNTOUCHED);
    MemorySegment results = arena.allocate(JAVA_LONG, 3);
    assertEquals(0, store.batchGet(addresses(text("a"), text("none"), text("b")),
        addresses(room, room.asSlice(4096), room.asSlice(8192)), arena.allocateFrom(JAVA_LONG, 4096, 4096, 99), 3,
        results));
    assertEquals(List.of(4096L, (long) ABSENT, (long) INVALID),
        List.of(results.getAtIndex(JAVA_LONG, 0), results.getAtIndex(JAVA_LONG, 1), results.getAtIndex(JAVA_LONG, 2)));
    assertEquals(-1, MemorySegment.mismatch(first, 0, 4096, room, 0, 4096));
    for (int i = 4096; i < 3 * 4096; i++)
      assertEquals(UNTOUCHED, room.get(JAVA_BYTE, i), "byte " + i);
    MemorySegment answers = arena.allocate(JAVA_INT, 3);
    assertEquals(0, store.batchExists(addresses(text("b"), text("none"), text("a")), 3, answers));
    assertEquals(List.of(1, 0, 1), List.of(answers.getAtIndex(JAVA_INT, 0), answers.getAtIndex(JAVA_INT, 1),
        answers.getAtIndex(JAVA_INT, 2)));
  }

  @Test
  @DisplayName("an empty batch is a success that touches nothing")
  void emptyBatch() {
    MemorySegment column = arena.allocate(8);
    MemorySegment results = arena.allocate(8).fill(UNTOUCHED);
    assertEquals(0, store.batchPut(column, column, column, 0, plain, results));
    assertEquals(0, store.batchGet(column, column, column, 0, results));
    assertEquals(0, store.batchExists(column, 0, results));
    assertEquals(UNTOUCHED, results.get(JAVA_BYTE, 0));
  }

  @Test
  @DisplayName("a NULL in a column fails the batch as a whole, results untouched")
  void nullInColumn() {
    MemorySegment codes = arena.allocate(JAVA_INT, 2).fill(UNTOUCHED);
    assertEquals(-1, store.batchPut(addresses(text("a"), MemorySegment.NULL), addresses(memory, memory),
        arena.allocateFrom(JAVA_LONG, 10, 10), 2, plain, codes));
    assertEquals(UNTOUCHED, codes.get(JAVA_BYTE, 0));
    assertEquals(0, store.exists(text("a")));
  }

  @Test
  @DisplayName("removal respects leases unless forced; a global one counts what it removed")
  void removal() {
    for (String key : List.of("x/1", "x/2", "y/1", "y/2"))
      assertEquals(0, put(key, 10));
    assertEquals(1, store.exists(text("x/1")));
    assertEquals(LEASED, store.remove(text("x/1"), false));
    assertEquals(1, store.removeMatching(text("^x/"), false));
    assertEquals(0, store.remove(text("x/1"), true));
    assertEquals(0, store.remove(text("y/1"), false));
    assertEquals(1, store.exists(text("y/2")));
    assertEquals(0, store.removeAll(false));
    assertEquals(1, store.removeAll(true));
    assertEquals(0, store.exists(text("y/2")));
    assertEquals(INVALID, store.removeMatching(text("("), true));
  }

  @Test
  @DisplayName("memory is registered by its base, once")
  void registration() {
    MemorySegment slab = arena.allocate(1 << 16, 4096);
    assertEquals(0, store.register(slab));
    assertEquals(INVALID, store.register(slab));
    assertEquals(INVALID, store.register(slab.asSlice(4096, 4096)));
    assertEquals(0, store.unregister(slab));
    assertEquals(INVALID, store.unregister(slab));
    assertEquals(0, store.register(slab));
    assertEquals(0, store.unregister(slab));
  }

  @Test
  @DisplayName("K12.05 a hard-pinned put is accepted with every replicate option set")
  void replicateOptions() {
    ReplicateOptions all = new ReplicateOptions(2, true, true, List.of(store.hostname(), "10.0.0.1:1"));
    assertEquals(0, store.put(text("pinned"), memory, 10, store.encodeReplicate(all, arena)));
    assertEquals(10, store.size(text("pinned")));
    assertEquals(0, store.remove(text("pinned"), true));
  }

  @Test
  @DisplayName("an open store is healthy, has a name and a host with a port")
  void identity() {
    assertEquals(0, store.health());
    assertTrue(store.name().startsWith(options().library() + ' '), store.name());
    assertTrue(HostPort.parse("hostname", store.hostname(), HostPort.NO_PORT).port() > 0, store.hostname());
    assertEquals(List.of(), store.doubts());
    assertEquals(List.of(), store.unprovable());
  }

  @Test
  @DisplayName("the census counts keys and puts, refused ones too, and lists keys up to a limit")
  void censusCounts() {
    StoreCensus.Reading before = census();
    assertEquals(0, before.keyCount());
    assertEquals("leader", before.role());
    put("a", 10);
    put("a", 10);
    MemorySegment codes = arena.allocate(JAVA_INT, 2);
    store.batchPut(addresses(text("b"), text("c")), addresses(memory, memory), arena.allocateFrom(JAVA_LONG, 10, 10), 2,
        plain, codes);
    StoreCensus.Reading after = census();
    assertEquals(3, after.keyCount());
    assertEquals(4, after.putStarts() - before.putStarts());
    assertEquals(3, after.putEnds() - before.putEnds());
    assertEquals(0, after.putRevokes() - before.putRevokes());
    assertEquals(before.startId(), after.startId());
    StoreCensus census = store.census().orElseThrow();
    Deadline deadline = Deadline.after(Duration.ofSeconds(5));
    assertEquals(List.of("a", "b", "c"), census.keys(10, deadline).stream().sorted().toList());
    assertEquals(2, census.keys(2, deadline).size());
    assertEquals(List.of(), census.keys(0, deadline));
    assertThrows(IllegalArgumentException.class, () -> census.keys(-1, deadline));
    assertFalse(census.source().isBlank());
  }

  @TestFactory
  @DisplayName("bad arguments are refused before anything is sent, naming the field")
  Stream<DynamicTest> guards() {
    MemorySegment key = text("a");
    MemorySegment column = arena.allocate(16);
    MemorySegment heap = MemorySegment.ofArray(new byte[64]);
    MemorySegment bare = MemorySegment.ofAddress(memory.address());
    MemorySegment unended = arena.allocate(3).fill((byte) 'k');
    return Stream.of(
        refused("key", () -> store.put(heap, memory, 10, plain)),
        refused("key", () -> store.put(bare, memory, 10, plain)),
        refused("key", () -> store.put(MemorySegment.NULL, memory, 10, plain)),
        refused("key must be NUL-terminated", () -> store.put(unended, memory, 10, plain)),
        refused("value", () -> store.put(key, heap, 10, plain)),
        refused("value", () -> store.put(key, memory, memory.byteSize() + 1, plain)),
        refused("bytes must be 1 or more: 0", () -> store.put(key, memory, 0, plain)),
        refused("bytes must be 1 or more: -1", () -> store.put(key, memory, -1, plain)),
        refused("replicate", () -> store.put(key, memory, 10, MemorySegment.NULL)),
        refused("replicate", () -> store.put(key, memory, 10, column)),
        refused("key", () -> store.get(unended, memory, 10)),
        refused("page", () -> store.get(key, heap, 10)),
        refused("page must have at least 11 bytes: 10", () -> store.get(key, memory.asSlice(0, 10), 11)),
        refused("page must not be read-only", () -> store.get(key, memory.asReadOnly(), 10)),
        refused("bytes must be 1 or more: 0", () -> store.get(key, memory, 0)),
        refused("count must be 0 to 65536: -1", () -> store.batchPut(column, column, column, -1, plain, column)),
        refused("count must be 0 to 65536: 65537", () -> store.batchPut(column, column, column, 65_537, plain, column)),
        refused("keys must have at least 24 bytes: 16", () -> store.batchPut(column, memory, memory, 3, plain, memory)),
        refused("pages must have", () -> store.batchPut(memory, column, memory, 3, plain, memory)),
        refused("sizes must have", () -> store.batchPut(memory, memory, column, 3, plain, memory)),
        refused("codes must have at least 20 bytes: 16",
            () -> store.batchPut(memory, memory, memory, 5, plain, column)),
        refused("codes must not be read-only",
            () -> store.batchPut(column, column, column, 1, plain, column.asReadOnly())),
        refused("replicate", () -> store.batchPut(column, column, column, 1, heap, column)),
        refused("count must be", () -> store.batchGet(column, column, column, 65_537, column)),
        refused("keys", () -> store.batchGet(heap, column, column, 1, column)),
        refused("pages", () -> store.batchGet(column, bare, column, 1, column)),
        refused("sizes", () -> store.batchGet(column, column, MemorySegment.NULL, 1, column)),
        refused("results must have at least 24 bytes: 16", () -> store.batchGet(memory, memory, memory, 3, column)),
        refused("count must be", () -> store.batchExists(column, -1, column)),
        refused("keys", () -> store.batchExists(bare, 1, column)),
        refused("answers", () -> store.batchExists(column, 1, heap)),
        refused("key", () -> store.exists(unended)), refused("key", () -> store.size(unended)),
        refused("key", () -> store.remove(unended, true)),
        refused("pattern", () -> store.removeMatching(unended, true)),
        refused("memory", () -> store.register(heap)), refused("memory", () -> store.register(bare)),
        refused("memory must not be read-only", () -> store.register(memory.asReadOnly())),
        refused("memory", () -> store.unregister(heap)));
  }

  private DynamicTest refused(String start, Executable call) {
    return DynamicTest.dynamicTest(start, () -> {
      long puts = census().putStarts();
      String message = Thrown.message(IllegalArgumentException.class, call);
      assertTrue(message.startsWith(start), message);
      assertEquals(puts, census().putStarts());
    });
  }

  @Test
  @DisplayName("K6.07 a closed store refuses every call, and closing again does nothing")
  void closed() {
    StoreBackend other = open(options());
    MemorySegment key = text("a");
    assertEquals(List.of(), other.close(Deadline.after(Duration.ofSeconds(30))));
    assertEquals(List.of(), other.close(Deadline.after(Duration.ZERO)));
    other.close();
    for (Executable call : List.<Executable>of(() -> other.put(key, memory, 10, plain),
        () -> other.batchPut(memory, memory, memory, 1, plain, memory), () -> other.get(key, memory, 10),
        () -> other.batchGet(memory, memory, memory, 1, memory), () -> other.exists(key),
        () -> other.batchExists(memory, 1, memory), () -> other.size(key), () -> other.remove(key, true),
        () -> other.removeMatching(key, true), () -> other.removeAll(true), () -> other.register(memory),
        () -> other.unregister(memory), other::health)) {
      String message = Thrown.message(ClosedException.class, call);
      assertTrue(message.contains(" refused: " + other.name() + " is closed"), message);
    }
  }
}
