package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** What one contract case works with; everything it opened is closed at its end. */
final class ContractBench implements AutoCloseable {
  static final int PAGE_BYTES = 4096;
  static final int PAGES = 64;
  static final byte UNTOUCHED = 0x5A;
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final Duration WAIT_MAX = Duration.ofSeconds(20);
  private static final long POLL_NANOS = 500_000;

  final StoreContractSubject subject;
  final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  ContractBench(StoreContractSubject subject) {
    this.subject = subject;
    subject.prepare();
    try (KvStore cleaner = open(0, KeyCodec.verbatim(), StorePolicy.DEFAULT, Observer.NONE)) {
      cleaner.removeAll(true);
    }
  }

  static KvKey key(String text) {
    return KvKey.of(text);
  }

  static KvKey key(int number) {
    return KvKey.of("key-" + number);
  }

  KvStore open(int client, KeyCodec codec, StorePolicy policy, Observer observer) {
    return track(KvStore.open(subject.client(client), subject.options(), codec, gate, observer, policy));
  }

  KvStore open(KeyCodec codec) {
    return open(0, codec, StorePolicy.DEFAULT, Observer.NONE);
  }

  KvStore open(StorePolicy policy) {
    return open(0, KeyCodec.plain("contract"), policy, Observer.NONE);
  }

  /** A store with keys without an epoch and without stamps: what the library itself does. */
  KvStore store() {
    return open(StorePolicy.DEFAULT);
  }

  /** The same, as another client of the pool. */
  KvStore otherStore() {
    return open(1, KeyCodec.plain("contract"), StorePolicy.DEFAULT, Observer.NONE);
  }

  /** A store whose close destroys its client. */
  KvStore ownStore(StorePolicy policy) {
    return track(KvStore.open(subject.ownClient(), subject.options(), KeyCodec.plain("contract"), gate, Observer.NONE,
        policy));
  }

  /** A backend below the store, for what the store never sends. */
  StoreBackend backend() {
    return subject.client(0);
  }

  BlockPool pool(KvStore store) {
    return pool(store, PAGE_BYTES, PAGES);
  }

  /** A pool on a slab of its own, registered with the store. */
  BlockPool pool(KvStore store, long pageBytes, int pages) {
    BlockPool pool = BlockPool.allocate(new PoolLayout(pageBytes, pages, store.codec().headerBytes()), gate);
    opened.push(() -> pool.close(Deadline.after(WAIT_MAX)));
    store.register(pool.slab());
    opened.push(() -> assertEquals(List.of(), store.close(Deadline.after(WAIT_MAX)), "still pending"));
    return pool;
  }

  /** A leased block whose page holds the pattern of a seed. */
  long filled(BlockPool pool, int seed) {
    long block = pool.lease();
    fill(pool.page(block), seed);
    return block;
  }

  /** A leased block whose page shows where nothing was written. */
  long blank(BlockPool pool) {
    long block = pool.lease();
    pool.page(block).fill(UNTOUCHED);
    return block;
  }

  /** Bytes that depend on their place and the seed, and not on how many there are. */
  static void fill(MemorySegment page, int seed) {
    long bytes = page.byteSize();
    long at = 0;
    for (; at + Long.BYTES <= bytes; at += Long.BYTES)
      page.set(WORD, at, pattern(seed, at));
    for (long word = pattern(seed, at); at < bytes; at++, word >>>= 8)
      page.set(ValueLayout.JAVA_BYTE, at, (byte) word);
  }

  private static long pattern(int seed, long at) {
    long mixed = (at + 1) * 0x9E3779B97F4A7C15L ^ (seed + 1L) * 0xC2B2AE3D27D4EB4FL;
    return mixed ^ mixed >>> 29;
  }

  static void assertPattern(MemorySegment page, long bytes, int seed, String what) {
    MemorySegment wanted = Arena.ofAuto().allocate(bytes);
    fill(wanted, seed);
    assertEquals(-1, MemorySegment.mismatch(wanted, 0, bytes, page, 0, bytes), () -> what + ": first wrong byte");
  }

  static void assertUntouched(MemorySegment bytes, String what) {
    for (long at = 0; at < bytes.byteSize(); at++) {
      if (bytes.get(ValueLayout.JAVA_BYTE, at) != UNTOUCHED) assertEquals(-1, at, what + ": written at byte");
    }
  }

  /** Header and page of a block, whatever its content is worth. */
  static MemorySegment raw(BlockPool pool, long block) {
    return pool.blockSegment(block).asSlice(pool.headerBytes());
  }

  /** Puts pages of these seeds under {@code key(seed)}, all of which must be stored. */
  void putAll(KvStore store, BlockPool pool, int... seeds) {
    try (StoreBatch batch = store.batch(pool, seeds.length)) {
      for (int seed : seeds)
        batch.add(key(seed), filled(pool, seed));
      batch.put();
      for (int i = 0; i < seeds.length; i++) {
        assertEquals(new PutResult.Stored(), batch.putResult(i), "put of " + batch.key(i));
        pool.release(batch.block(i));
      }
    }
  }

  /** Gets {@code key(seed)} and checks every byte of the page. */
  void assertHit(KvStore store, BlockPool pool, int seed) {
    long block = blank(pool);
    assertEquals(new GetResult.Hit(pool.pageBytes()), store.getPage(key(seed), pool, block), "get of " + key(seed));
    assertPattern(pool.page(block), pool.pageBytes(), seed, "page of " + key(seed));
    pool.release(block);
  }

  GetResult get(KvStore store, BlockPool pool, KvKey key) {
    long block = blank(pool);
    try {
      return store.getPage(key, pool, block);
    } finally {
      pool.release(block);
    }
  }

  /** Runs something on a thread of its own. */
  <T> CompletableFuture<T> start(Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("contract").start(() -> {
      try {
        result.complete(work.call());
      } catch (Throwable e) {
        result.completeExceptionally(e);
      }
    });
    return result;
  }

  static <T> T join(CompletableFuture<T> future) {
    try {
      return future.get(WAIT_MAX.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      if (e.getCause() instanceof Error cause) throw cause;
      throw new CompletionException(e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("not done within " + WAIT_MAX, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  static void assertSays(String part, Throwable refusal) {
    assertTrue(String.valueOf(refusal.getMessage()).contains(part), () -> part + " in: " + refusal.getMessage());
  }

  static void await(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.after(WAIT_MAX);
    while (!condition.getAsBoolean()) {
      assertTrue(!deadline.reached(), () -> what + " did not happen within " + WAIT_MAX);
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Removes a key as soon as its lease has run out. */
  void removeAfterLease(KvStore store, KvKey key) {
    subject.hastenLeases();
    await("the end of the lease of " + key, () -> store.remove(key, false).gone());
  }

  private <T extends AutoCloseable> T track(T resource) {
    opened.push(resource);
    return resource;
  }

  @Override
  public void close() {
    AssertionError failure = null;
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception | AssertionError e) {
        if (failure == null) failure = new AssertionError("closing what the case opened", e);
        else
          failure.addSuppressed(e);
      }
    }
    if (failure != null) throw failure;
  }
}
