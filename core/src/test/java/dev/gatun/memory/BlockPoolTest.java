package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class BlockPoolTest {
  private static final int COUNT = 8;

  private final EpochGate gate = Refits.gate();
  private final BlockPool pool = BlockPool.allocate(new PoolLayout(1000, COUNT, 64), gate);

  @AfterEach
  void close() {
    pool.close();
    assertTrue(gate.parts().isEmpty());
  }

  /** Every call that takes a block, by name. */
  static Stream<Arguments> calls() {
    return Stream.of(call("retain", BlockPool::retain), call("release", BlockPool::release),
        call("page", BlockPool::page), call("rewrite", BlockPool::rewrite), call("renew", BlockPool::renew),
        call("reserveNull", BlockPool::reserveNull), call("isNull", BlockPool::isNull),
        call("beginRead", BlockPool::beginRead), call("endRead", BlockPool::endRead),
        call("beginWrite", BlockPool::beginWrite), call("endWrite", (pool, block) -> pool.endWrite(block, true)),
        call("cancelWrite", BlockPool::cancelWrite), call("quarantine", BlockPool::quarantine),
        call("endQuarantine", BlockPool::endQuarantine),
        call("blockAddress", BlockPool::blockAddress), call("blockSegment", BlockPool::blockSegment));
  }

  private static Arguments call(String name, BiConsumer<BlockPool, Long> call) {
    return Arguments.of(Named.of(name, call));
  }

  @Test
  @DisplayName("blocks are distinct, do not overlap, are never 0, and come back after release")
  void leaseAll() {
    Set<Long> addresses = new HashSet<>();
    long[] blocks = new long[COUNT];
    for (int i = 0; i < COUNT; i++) {
      blocks[i] = pool.lease();
      assertTrue(blocks[i] > 0);
      assertTrue(addresses.add(pool.blockAddress(blocks[i])));
      assertEquals(pool.blockAddress(blocks[i]) + 64, pool.page(blocks[i]).address());
      assertEquals(1000, pool.page(blocks[i]).byteSize());
    }
    for (long address : addresses)
      assertEquals(0, (address - pool.slab().segment().address()) % 1088);
    assertEquals(0, pool.tryLease());
    assertEquals(0, pool.available());
    String message = assertThrows(PoolExhaustedException.class, pool::lease).toString();
    assertTrue(message.contains("all 8 blocks are in use"), message);
    for (long block : blocks)
      pool.release(block);
    assertEquals(COUNT, pool.available());
    for (int i = 0; i < COUNT; i++)
      assertNotEquals(0, pool.tryLease());
    assertEquals(0, pool.tryLease());
  }

  @ParameterizedTest
  @MethodSource("calls")
  @DisplayName("a handle is refused by every call once its lease has ended")
  void released(BiConsumer<BlockPool, Long> call) {
    long block = pool.lease();
    pool.release(block);
    assertThrows(IllegalStateException.class, () -> call.accept(pool, block));
    assertEquals(COUNT, pool.available());
  }

  @ParameterizedTest
  @MethodSource("calls")
  @DisplayName("a stale handle is refused by every call after its block was leased again, and harms nothing")
  void stale(BiConsumer<BlockPool, Long> call) {
    long stale = pool.lease();
    pool.release(stale);
    long again = pool.lease();
    assertEquals(address(stale), address(again), "the same block, most recently used first");
    pool.beginRead(again);
    pool.quarantine(again);
    assertThrows(IllegalStateException.class, () -> call.accept(pool, stale));
    pool.endQuarantine(again);
    assertTrue(pool.isCurrent(again));
    assertFalse(pool.isCurrent(stale));
    pool.beginWrite(again);
    assertThrows(IllegalStateException.class, () -> call.accept(pool, stale));
    pool.endWrite(again, true);
    pool.release(again);
    assertEquals(COUNT, pool.available());
  }

  private static long address(long block) {
    return BlockWord.index(block);
  }

  @ParameterizedTest
  @MethodSource("calls")
  @DisplayName("a number that is no handle of this pool is refused by every call, by name of the pool")
  void foreign(BiConsumer<BlockPool, Long> call) {
    try (BlockPool other = BlockPool.allocate(new PoolLayout(1000, COUNT), gate, PoolOptions.named("other"))) {
      long mine = pool.lease();
      for (long block : new long[]{0, -1, 1, Long.MIN_VALUE, Long.MAX_VALUE, mine + COUNT, ~mine}) {
        assertThrows(IllegalArgumentException.class, () -> call.accept(pool, block), "block " + block);
        assertFalse(pool.isCurrent(block));
      }
      String message = assertThrows(IllegalArgumentException.class, () -> call.accept(other, mine)).toString();
      assertTrue(message.contains("is not of pool other"), message);
      pool.release(mine);
    }
  }

  @ParameterizedTest
  @MethodSource("calls")
  @DisplayName("after close every call says that the pool is closed")
  void closed(BiConsumer<BlockPool, Long> call) {
    long block = pool.lease();
    pool.close();
    assertThrows(ClosedException.class, () -> call.accept(pool, block));
    assertThrows(ClosedException.class, pool::tryLease);
    assertFalse(pool.isCurrent(block));
    pool.close();
  }

  @Test
  @DisplayName("a second release is refused while another holder still has its reference")
  void referencesAreCounted() {
    long block = pool.lease();
    pool.retain(block);
    pool.release(block);
    assertTrue(pool.isCurrent(block));
    pool.release(block);
    assertThrows(IllegalStateException.class, () -> pool.release(block));
    assertEquals(COUNT, pool.available());
  }

  @Test
  @DisplayName("references and readers stop at what the word can count, and nothing wraps")
  void counterLimits() {
    long block = pool.lease();
    for (int i = 1; i < 2047; i++)
      pool.retain(block);
    assertThrows(IllegalStateException.class, () -> pool.retain(block));
    for (int i = 0; i < 255; i++)
      pool.beginRead(block);
    assertThrows(IllegalStateException.class, () -> pool.beginRead(block));
    assertEquals(2047, pool.outstanding().getFirst().references());
    assertEquals(255, pool.outstanding().getFirst().readers());
    for (int i = 0; i < 255; i++)
      pool.endRead(block);
    for (int i = 0; i < 2047; i++)
      pool.release(block);
    assertEquals(COUNT, pool.available());
  }

  @Test
  @DisplayName("K6.02 a block released under a running put stays out of the pool, keeps its bytes, and is freed once")
  void releaseUnderRead() {
    long block = pool.lease();
    MemorySegment page = pool.page(block);
    page.fill((byte) 0x5A);
    pool.beginRead(block);
    pool.release(block);
    for (int i = 1; i < COUNT; i++)
      pool.rewrite(pool.lease()).fill((byte) 0);
    assertEquals(0, pool.tryLease(), "the block under transfer must not be lent");
    assertEquals(-1, pool.blockSegment(block).asSlice(64, 1000).mismatch(page));
    for (long at = 0; at < 1000; at++)
      assertEquals(0x5A, page.get(ValueLayout.JAVA_BYTE, at));
    assertThrows(IllegalStateException.class, () -> pool.page(block), "released for its holder");
    assertThrows(IllegalStateException.class, () -> pool.beginRead(block));
    pool.endRead(block);
    assertEquals(1, pool.available());
    assertThrows(IllegalStateException.class, () -> pool.endRead(block));
    assertThrows(IllegalStateException.class, () -> pool.release(block));
    pool.lease();
    assertEquals(0, pool.tryLease(), "freed exactly once");
  }

  @Test
  @DisplayName("K6.04 pages of an aborted get are lent again only when the native write has ended")
  void releaseUnderWrite() {
    long block = pool.lease();
    pool.beginWrite(block);
    pool.release(block);
    assertEquals(COUNT - 1, pool.available());
    assertEquals(0, pool.outstanding().getFirst().references());
    pool.endWrite(block, true);
    assertEquals(COUNT, pool.available());
  }

  @Test
  @DisplayName("a block may be read by several transfers, is written by one alone, and not read meanwhile")
  void writerIsAlone() {
    long block = pool.lease();
    pool.beginRead(block);
    pool.beginRead(block);
    assertThrows(IllegalStateException.class, () -> pool.beginWrite(block));
    assertThrows(IllegalStateException.class, () -> pool.rewrite(block));
    pool.page(block);
    pool.endRead(block);
    assertThrows(IllegalStateException.class, () -> pool.beginWrite(block));
    pool.endRead(block);
    assertThrows(IllegalStateException.class, () -> pool.endRead(block));
    pool.beginWrite(block);
    assertThrows(IllegalStateException.class, () -> pool.beginWrite(block));
    assertThrows(IllegalStateException.class, () -> pool.beginRead(block));
    assertThrows(IllegalStateException.class, () -> pool.page(block), "half written");
    pool.endWrite(block, true);
    assertThrows(IllegalStateException.class, () -> pool.endWrite(block, true));
    pool.page(block);
    pool.release(block);
  }

  @Test
  @DisplayName("K17.06 after a failed or short get a page shows nothing until it is written anew")
  void failedWriteIsInvalid() {
    long block = pool.lease();
    pool.page(block).fill((byte) 1);
    pool.beginWrite(block);
    pool.endWrite(block, false);
    assertThrows(IllegalStateException.class, () -> pool.page(block));
    assertThrows(IllegalStateException.class, () -> pool.beginRead(block), "nor can it be put");
    pool.beginWrite(block);
    pool.endWrite(block, true);
    pool.page(block);
    pool.beginWrite(block);
    pool.endWrite(block, false);
    pool.rewrite(block).fill((byte) 2);
    pool.page(block);
    pool.beginRead(block);
    pool.endRead(block);
    pool.beginWrite(block);
    pool.endWrite(block, false);
    pool.release(block);
    pool.page(pool.lease()); // the next lease begins unmarked
  }

  @Test
  @DisplayName("K17.06 with poison on, the bytes of an ended lease show as poison, its header and neighbours do not")
  void poison() {
    try (BlockPool poisoned = BlockPool.allocate(new PoolLayout(1000, 2, 64), gate,
        PoolOptions.named("poisoned").poisoned())) {
      long neighbour = poisoned.lease();
      long block = poisoned.lease();
      poisoned.page(neighbour).fill((byte) 3);
      MemorySegment page = poisoned.page(block);
      MemorySegment header = poisoned.blockSegment(block).asSlice(0, 64);
      page.fill((byte) 4);
      header.fill((byte) 5);
      poisoned.beginRead(block);
      poisoned.release(block);
      assertEquals(4, page.get(ValueLayout.JAVA_BYTE, 0), "not before the transfer has ended");
      poisoned.endRead(block);
      for (long at = 0; at < 1000; at++)
        assertEquals(PoolOptions.POISON, page.get(ValueLayout.JAVA_BYTE, at));
      assertEquals(5, header.get(ValueLayout.JAVA_BYTE, 63));
      assertEquals(3, poisoned.page(neighbour).get(ValueLayout.JAVA_BYTE, 999));
      assertEquals(1, poisoned.available());
      assertThrows(IllegalStateException.class, () -> poisoned.release(block));
      poisoned.release(neighbour);
    }
  }

  @Test
  @DisplayName("K10.10 the null block can be looked at but neither put nor got into")
  void nullBlock() {
    long block = pool.lease();
    pool.page(block).fill((byte) 9);
    pool.reserveNull(block);
    assertTrue(pool.isNull(block));
    for (byte each : pool.page(block).toArray(ValueLayout.JAVA_BYTE))
      assertEquals(0, each);
    String message = assertThrows(IllegalStateException.class, () -> pool.beginRead(block)).toString();
    assertTrue(message.contains("null block"), message);
    assertThrows(IllegalStateException.class, () -> pool.beginWrite(block));
    assertThrows(IllegalStateException.class, () -> pool.rewrite(block));
    pool.release(block);
    long next = pool.lease();
    assertFalse(pool.isNull(next));
    pool.beginRead(next);
    pool.endRead(next);
    pool.release(next);
  }

  @Test
  @DisplayName("K1.08 a handle from before a refit says that the epoch changed, never bytes; it can be released")
  void epochChanged() {
    long block = pool.lease();
    pool.page(block).fill((byte) 1);
    Refits.raise(gate);
    assertFalse(pool.isCurrent(block));
    for (BiConsumer<BlockPool, Long> call : List.<BiConsumer<BlockPool, Long>>of(BlockPool::page, BlockPool::retain,
        BlockPool::beginRead, BlockPool::beginWrite, BlockPool::rewrite, BlockPool::reserveNull)) {
      String message = assertThrows(EpochChangedException.class, () -> call.accept(pool, block)).toString();
      assertTrue(message.contains("before the refit to test@1"), message);
    }
    assertFalse(pool.outstanding().getFirst().current());
    pool.release(block);
    assertEquals(COUNT, pool.available());
    pool.page(pool.lease());
  }

  @Test
  @DisplayName("K1.12 the end of a transfer begun before a refit is counted once and frees the block once")
  void transferAcrossRefit() {
    long read = pool.lease();
    long written = pool.lease();
    pool.beginRead(read);
    pool.beginWrite(written);
    Refits.refit(gate);
    pool.release(read);
    pool.release(written);
    pool.endRead(read);
    pool.endWrite(written, true);
    assertEquals(COUNT, pool.available());
    assertThrows(IllegalStateException.class, () -> pool.endRead(read));
    assertThrows(IllegalStateException.class, () -> pool.endWrite(written, true));
    assertEquals(COUNT, pool.available());
  }

  @Test
  @DisplayName("an old block stays old when the ordinal in its word comes round again")
  void ordinalWraps() {
    long block = pool.lease();
    Refits.refit(gate);
    for (int i = 1; i < 4096; i++)
      Refits.raise(gate);
    assertEquals(4096, gate.ordinal());
    assertFalse(pool.isCurrent(block));
    assertThrows(EpochChangedException.class, () -> pool.page(block));
    pool.release(block);
  }

  @Test
  @DisplayName("a block renewed for a get across a refit shows nothing of its old bytes")
  void renew() {
    long block = pool.lease();
    pool.renew(block);
    pool.page(block).fill((byte) 1);
    Refits.refit(gate);
    pool.renew(block);
    assertThrows(IllegalStateException.class, () -> pool.page(block));
    assertThrows(IllegalStateException.class, () -> pool.beginRead(block));
    pool.beginWrite(block);
    pool.endWrite(block, true);
    pool.page(block);
    pool.retain(block);
    Refits.refit(gate);
    assertThrows(IllegalStateException.class, () -> pool.renew(block), "another holder would be misled");
    pool.release(block);
    pool.release(block);
  }

  @Test
  @DisplayName("K6.06 a timed-out transfer keeps its block out of the pool until native code is known to be done")
  void quarantine() {
    long read = pool.lease();
    long written = pool.lease();
    pool.beginRead(read);
    pool.beginRead(read);
    pool.beginWrite(written);
    pool.quarantine(read);
    pool.quarantine(written);
    assertEquals(2, pool.quarantined());
    pool.release(read);
    pool.release(written);
    pool.endRead(read); // the other reader, which was in time
    assertThrows(IllegalStateException.class, () -> pool.endRead(read));
    assertThrows(IllegalStateException.class, () -> pool.endWrite(written, true));
    assertThrows(IllegalStateException.class, () -> pool.quarantine(read));
    assertEquals(COUNT - 2, pool.available());
    assertTrue(pool.outstanding().stream().allMatch(BlockStatus::quarantined));
    assertThrows(InUseException.class, pool::close);
    pool.endQuarantine(read);
    assertThrows(IllegalStateException.class, () -> pool.endQuarantine(read));
    assertEquals(COUNT - 1, pool.available());
    pool.endQuarantine(written);
    assertEquals(COUNT, pool.available());
    assertEquals(0, pool.quarantined());
  }

  @Test
  @DisplayName("K6.06 a quarantined write leaves the content invalid, a quarantined read leaves it good")
  void quarantineAndContent() {
    long block = pool.lease();
    pool.beginRead(block);
    pool.quarantine(block);
    pool.page(block);
    assertThrows(IllegalStateException.class, () -> pool.beginWrite(block));
    pool.endQuarantine(block);
    pool.page(block);
    pool.beginWrite(block);
    pool.quarantine(block);
    assertThrows(IllegalStateException.class, () -> pool.page(block));
    pool.endQuarantine(block);
    assertThrows(IllegalStateException.class, () -> pool.page(block));
    pool.release(block);
  }

  @Test
  @DisplayName("drain waits for readers and writers and lists those that stay")
  void drain() {
    long block = pool.lease();
    assertEquals(List.of(), pool.drain(Deadline.after(Duration.ofSeconds(10))), "a lease alone is no work");
    pool.beginRead(block);
    Refits.raise(gate);
    List<String> pending = pool.drain(Deadline.after(Duration.ZERO));
    assertEquals(1, pending.size());
    assertTrue(pending.getFirst().contains("1 reading"), pending.toString());
    Thread ender = Thread.ofPlatform().start(() -> pool.endRead(block));
    assertEquals(List.of(), pool.drain(Deadline.after(Duration.ofSeconds(10))));
    assertFalse(interruptedJoin(ender));
    pool.release(block);
  }

  @Test
  @DisplayName("drain waits for what is of earlier epochs: transfers of leases taken since the epoch was raised do not hold it up")
  void drainLeavesNewLeases() {
    long old = pool.lease();
    pool.beginRead(old);
    Refits.raise(gate);
    long fresh = pool.lease();
    pool.beginRead(fresh);
    assertEquals(1, pool.drain(Deadline.after(Duration.ZERO)).size());
    assertEquals(2, pool.pending().size());
    pool.endRead(old);
    assertEquals(List.of(), pool.drain(Deadline.after(Duration.ofDays(1))));
    assertEquals(1, pool.pending().size(), "the pool does not close before it");
    assertThrows(InUseException.class, pool::close);
    pool.endRead(fresh);
    pool.release(old);
    pool.release(fresh);
  }

  @Test
  @DisplayName("drain lists a quarantined read, whose bytes may still land elsewhere, at once, and not a quarantined write")
  void drainWithQuarantine() {
    long read = pool.lease();
    long written = pool.lease();
    pool.beginRead(read);
    pool.beginWrite(written);
    pool.quarantine(read);
    pool.quarantine(written);
    Refits.raise(gate);
    List<String> pending = pool.drain(Deadline.after(Duration.ofDays(1)));
    assertEquals(1, pending.size());
    assertTrue(pending.getFirst().contains("in quarantine"), pending.toString());
    pool.endQuarantine(read);
    pool.endQuarantine(written);
    pool.release(read);
    pool.release(written);
  }

  @Test
  @DisplayName("closing with work in flight is refused, names it, and leaves the pool as it was")
  void closeInFlight() {
    long block = pool.lease();
    pool.beginWrite(block);
    String message = assertThrows(InUseException.class, pool::close).toString();
    assertTrue(message.contains("1 blocks in flight") && message.contains("1 writing"), message);
    pool.endWrite(block, true);
    pool.page(block);
    pool.release(pool.lease());
  }

  @Test
  @DisplayName("K6.10 closing waits for work in flight to its deadline")
  void closeWaits() {
    long block = pool.lease();
    pool.beginRead(block);
    Thread ender = Thread.ofPlatform().start(() -> pool.endRead(block));
    pool.close(Deadline.after(Duration.ofSeconds(30)));
    assertTrue(pool.isClosed());
    assertFalse(interruptedJoin(ender));
  }

  @Test
  @DisplayName("K13.02 views are slices of the pool: after close a byte buffer of a page throws, it does not fault")
  void viewAfterClose() {
    long block = pool.lease();
    ByteBuffer view = pool.page(block).asByteBuffer();
    view.put(0, (byte) 1);
    pool.close();
    assertThrows(IllegalStateException.class, () -> view.get(0));
  }

  @Test
  @DisplayName("K13.03 a page may be used by any thread, virtual ones included")
  void anyThread() throws InterruptedException {
    long block = pool.lease();
    MemorySegment page = pool.page(block);
    Thread.ofVirtual().start(() -> page.fill((byte) 1)).join();
    Thread.ofPlatform().start(() -> page.set(ValueLayout.JAVA_BYTE, 1, (byte) 2)).join();
    assertEquals(1, page.get(ValueLayout.JAVA_BYTE, 0));
    assertEquals(2, page.get(ValueLayout.JAVA_BYTE, 1));
    Thread.ofVirtual().start(() -> pool.release(block)).join();
    assertEquals(COUNT, pool.available());
  }

  @Test
  @DisplayName("K17.02 with tracking on, 100 dropped leases are reported at close with the place that took them")
  void leaksAreReported() {
    BlockPool tracked = BlockPool.allocate(new PoolLayout(64, 200), gate, PoolOptions.named("tracked").tracked());
    for (int i = 0; i < 100; i++)
      tracked.lease();
    tracked.release(tracked.lease());
    assertEquals(100, tracked.outstanding().size());
    long inFlight = tracked.outstanding().getFirst().block();
    tracked.beginRead(inFlight);
    assertThrows(InUseException.class, tracked::close, "not recycled while a transfer runs");
    assertEquals(List.of(), tracked.leaked());
    tracked.endRead(inFlight);
    tracked.close();
    assertEquals(100, tracked.leaked().size());
    for (BlockStatus leak : tracked.leaked()) {
      LeaseSite site = Objects.requireNonNull(leak.site());
      assertEquals("leaksAreReported", site.stack().getFirst().getMethodName(), leak.toString());
      assertEquals(Thread.currentThread().getName(), site.thread());
    }
    assertTrue(tracked.leaked().getFirst().toString().contains("last transfer by thread"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 65, 127, 128, 129, 4096, 4097, 10_000})
  @DisplayName("exactly as many blocks are lent as the pool has, whatever their number")
  void poolSizes(int count) {
    try (BlockPool sized = BlockPool.allocate(new PoolLayout(1, count), gate)) {
      Set<Long> blocks = new HashSet<>();
      for (int i = 0; i < count; i++)
        assertTrue(blocks.add(sized.lease()));
      assertEquals(0, sized.tryLease());
      blocks.forEach(sized::release);
      assertEquals(count, sized.available());
    }
  }

  @Test
  @DisplayName("blocks leased by one thread and released by another all come back, round after round")
  void producerAndConsumer() throws InterruptedException {
    try (BlockPool shared = BlockPool.allocate(new PoolLayout(64, 1000), gate)) {
      for (int round = 0; round < 5; round++) {
        long[] blocks = new long[1000];
        for (int i = 0; i < blocks.length; i++)
          blocks[i] = shared.lease();
        assertEquals(0, shared.tryLease());
        Thread consumer = Thread.ofPlatform().start(() -> {
          for (long block : blocks)
            shared.release(block);
        });
        consumer.join();
        assertEquals(1000, shared.available());
      }
    }
  }

  private static boolean interruptedJoin(Thread thread) {
    try {
      thread.join();
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  @Test
  @DisplayName("a handle of a closed pool is no lease of a later one, though pools share numbers")
  void handlesOfManyPools() {
    long old;
    try (BlockPool first = BlockPool.allocate(new PoolLayout(64, 1), new EpochGate(new WeightEpoch("run", 1)))) {
      old = first.lease();
      first.release(old);
    }
    for (int i = 0; i < 1100; i++) {
      try (BlockPool later = BlockPool.allocate(new PoolLayout(64, 1), new EpochGate(new WeightEpoch("run", 1)))) {
        long block = later.lease();
        assertThrows(RuntimeException.class, () -> later.page(old), "pool " + i);
        assertThrows(RuntimeException.class, () -> later.release(old), "pool " + i);
        later.page(block);
        later.release(block);
      }
    }
  }
}
