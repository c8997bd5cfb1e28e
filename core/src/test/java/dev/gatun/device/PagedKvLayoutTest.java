package dev.gatun.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.device.PagedKvLayout.Order;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PagedKvLayoutTest {
  @Provide
  Arbitrary<PaddedCache> caches() {
    Arbitrary<KvShape> shapes = Combinators.combine(Arbitraries.integers().between(1, 4),
        Arbitraries.integers().between(1, 2), Arbitraries.integers().between(1, 5),
        Arbitraries.integers().between(1, 9),
        Arbitraries.integers().between(1, 7), Arbitraries.of(1, 2, 4)).as(KvShape::new);
    Arbitrary<List<Integer>> gaps = Arbitraries.of(0, 0, 1, 8).list().ofSize(3);
    return Combinators.combine(shapes, Arbitraries.of(Order.class), Arbitraries.of(true, false), gaps,
        Arbitraries.integers().between(1, 4)).as(PaddedCache::new);
  }

  @Property(tries = 2000)
  @Label("a block's fragments, one after the other, are its bytes layer by layer, part by part, in the order of memory")
  void fragmentsAreThePage(@ForAll("caches") PaddedCache cache) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(cache.bytes());
      for (long at = 0; at < memory.byteSize(); at++)
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) ((at * 0x9E3779B97F4A7C15L) >>> 56));
      PagedKvLayout layout = new PagedKvLayout(cache.shape(), cache.strides(), cache.parts(memory.address()),
          cache.blocks(), PagedKvLayout.NO_NULL_BLOCK);
      assertEquals(cache.shape().valueBytes(), layout.fragments() * layout.fragmentBytes());
      MemorySegment table = arena.allocate(ValueLayout.JAVA_LONG, layout.fragments() + 2);
      for (int block = 0; block < cache.blocks(); block++) {
        layout.addresses(block, table, 1);
        assertArrayEquals(plain(cache, memory, block), gathered(layout, memory, table));
      }
      assertEquals(0, table.getAtIndex(ValueLayout.JAVA_LONG, 0));
      assertEquals(0, table.getAtIndex(ValueLayout.JAVA_LONG, layout.fragments() + 1));
    }
  }

  private static byte[] gathered(PagedKvLayout layout, MemorySegment memory, MemorySegment table) {
    byte[] page = new byte[(int) layout.valueBytes()];
    int fragmentBytes = (int) layout.fragmentBytes();
    for (int i = 0; i < layout.fragments(); i++) {
      long from = table.getAtIndex(ValueLayout.JAVA_LONG, i + 1) - memory.address();
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, page, i * fragmentBytes, fragmentBytes);
    }
    return page;
  }

  /** Byte by byte, from the definition. */
  private static byte[] plain(PaddedCache cache, MemorySegment memory, int block) {
    KvShape shape = cache.shape();
    byte[] page = new byte[(int) shape.valueBytes()];
    int next = 0;
    boolean tokensFirst = cache.order() == Order.TOKENS_FIRST || cache.tokenStride() == cache.headStride();
    int outerCount = tokensFirst ? shape.blockTokens() : shape.kvHeads();
    int innerCount = tokensFirst ? shape.kvHeads() : shape.blockTokens();
    for (long part : cache.parts(0)) {
      for (int outer = 0; outer < outerCount; outer++) {
        for (int inner = 0; inner < innerCount; inner++) {
          long at = part + block * cache.blockStride() + (tokensFirst ? outer : inner) * cache.tokenStride()
              + (tokensFirst ? inner : outer) * cache.headStride();
          for (int i = 0; i < shape.headBytes(); i++)
            page[next++] = memory.get(ValueLayout.JAVA_BYTE, at + i);
        }
      }
    }
    return page;
  }

  private static final KvShape SHAPE = new KvShape(2, 2, 4, 8, 16, 2);

  @Test
  @DisplayName("a 70B model's rank: 160 fragments of 32 KiB with keys and values apart, 80 of 64 KiB fused, per-token with gaps")
  void fragmentCounts() {
    KvShape rank = new KvShape(80, 2, 8, 128, 16, 2);
    assertEquals("2 blocks of 160 fragments of 32768 bytes, TOKENS_FIRST",
        layout(rank, KvStrides.tokensFirst(rank), 1L << 20).toString());
    assertEquals("2 blocks of 160 fragments of 32768 bytes, HEADS_FIRST",
        layout(rank, KvStrides.headsFirst(rank), 1L << 20).toString());
    assertEquals("2 blocks of 80 fragments of 65536 bytes, TOKENS_FIRST",
        layout(rank, KvStrides.tokensFirst(rank).withBlockBytes(65536), 32768).toString());
    KvShape latent = new KvShape(61, 1, 1, 576, 64, 2);
    assertEquals("2 blocks of 61 fragments of 73728 bytes, TOKENS_FIRST",
        layout(latent, KvStrides.tokensFirst(latent), 1L << 20).toString());
    KvStrides padded = new KvStrides(65536, 2048 + 64, 256);
    assertEquals("2 blocks of 2560 fragments of 2048 bytes, TOKENS_FIRST", layout(rank, padded, 1L << 20).toString());
  }

  /** Two blocks; parts {@code apart} bytes from each other. */
  private static PagedKvLayout layout(KvShape shape, KvStrides strides, long apart) {
    List<Long> parts = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (int part = 0; part < shape.parts(); part++)
        parts.add((layer + 1L) * (1L << 30) + part * apart);
    }
    return new PagedKvLayout(shape, strides, parts, 2, PagedKvLayout.NO_NULL_BLOCK);
  }

  @Test
  @DisplayName("a rank holds its share of the heads, at least one, and all of a latent cache")
  void ranks() {
    KvShape whole = new KvShape(80, 2, 8, 128, 16, 2);
    assertEquals(2, whole.ofRank(4).kvHeads());
    assertEquals(1, whole.ofRank(16).kvHeads());
    KvShape latent = new KvShape(61, 1, 1, 576, 64, 2);
    assertEquals(latent, latent.ofRank(8));
    assertRefused("ranks must divide 8 heads, or be a multiple of them: 3", () -> whole.ofRank(3));
    assertRefused("ranks must be positive: 0", () -> whole.ofRank(0));
  }

  @Test
  @DisplayName("K10.10 the engine's null block has no page; blocks outside are refused")
  void blocks() {
    PagedKvLayout layout = new PagedKvLayout(SHAPE, KvStrides.tokensFirst(SHAPE), List.of(4096L, 8192L, 16384L, 32768L),
        2, 0);
    MemorySegment table = MemorySegment.ofArray(new long[4]);
    layout.addresses(1, table, 0);
    assertEquals(4096 + 1024, table.getAtIndex(ValueLayout.JAVA_LONG, 0));
    assertRefused("block 0 is the engine's null block and has no page", () -> layout.addresses(0, table, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> layout.addresses(2, table, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> layout.addresses(-1, table, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> layout.addresses(1, table, 1));
  }

  @Test
  @DisplayName("K10.08 strides and addresses that cannot be are refused with the numbers")
  void refused() {
    KvStrides strides = KvStrides.tokensFirst(SHAPE);
    List<Long> parts = List.of(4096L, 8192L, 16384L, 32768L);
    assertRefused("parts must be 1 or 2: 3", () -> new KvShape(1, 3, 1, 1, 1, 1));
    assertRefused("elementBytes must be 8 or less: 16", () -> new KvShape(1, 1, 1, 1, 1, 16));
    assertThrows(IllegalArgumentException.class, () -> new KvShape(1 << 30, 2, 1 << 30, 1 << 30, 1, 1));
    assertRefused("tokenBytes must be positive: 0", () -> new KvStrides(1, 0, 1));
    assertRefused("partAddresses must have 4 entries, 2 for each of 2 layers: 1",
        () -> new PagedKvLayout(SHAPE, strides, List.of(4096L), 2, -1));
    assertRefused("partAddresses must not be 0",
        () -> new PagedKvLayout(SHAPE, strides, List.of(0L, 1L, 2L, 3L), 1, -1));
    assertRefused("blocks must be positive: 0", () -> new PagedKvLayout(SHAPE, strides, parts, 0, -1));
    assertRefused("nullBlock must be a block of 2, or -1 for none: 2",
        () -> new PagedKvLayout(SHAPE, strides, parts, 2, 2));
    assertRefused("blockBytes must be 1024 or more, else blocks overlap: 1023",
        () -> new PagedKvLayout(SHAPE, strides.withBlockBytes(1023), parts, 2, -1));
    assertRefused("heads must be 16 bytes apart or more, else they overlap: 8",
        () -> new PagedKvLayout(SHAPE, new KvStrides(1024, 64, 8), parts, 2, -1));
    assertRefused("tokens must be 64 bytes apart or more, else they overlap: 32",
        () -> new PagedKvLayout(SHAPE, new KvStrides(1024, 32, 16), parts, 2, -1));
    assertRefused("partAddresses 0 and 1 must not overlap: 0x1000 and 0x1400 with blocks of 1024 bytes every 1024",
        () -> new PagedKvLayout(SHAPE, strides, List.of(4096L, 5120L, 16384L, 32768L), 2, -1));
    assertThrows(IllegalArgumentException.class,
        () -> new PagedKvLayout(SHAPE, strides.withBlockBytes(Long.MAX_VALUE / 2), parts, 9, -1));
    assertThrows(IllegalArgumentException.class,
        () -> new PagedKvLayout(SHAPE, new KvStrides(Long.MAX_VALUE, Long.MAX_VALUE / 2, 16), parts, 1, -1));
    KvShape pieces = new KvShape(2, 2, 1 << 16, 1, 1 << 15, 1);
    assertRefused("a block must have fewer than 2^31 fragments: 2147483648 in each of 4 parts",
        () -> new PagedKvLayout(pieces, new KvStrides(1L << 40, 1L << 20, 2), parts, 1, -1));
  }

  @Test
  @DisplayName("a table of another thread's confined arena is refused by name")
  void confinedTable() throws Exception {
    PagedKvLayout layout = new PagedKvLayout(SHAPE, KvStrides.tokensFirst(SHAPE), List.of(4096L, 8192L, 16384L, 32768L),
        1, -1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = arena.allocate(8L * layout.fragments(), 8);
      layout.addresses(0, table, 0);
      CompletableFuture<String> refusal = CompletableFuture.supplyAsync(
          () -> assertThrows(IllegalArgumentException.class, () -> layout.addresses(0, table, 0)).getMessage());
      assertTrue(refusal.get(10, TimeUnit.SECONDS).startsWith("table must be of an arena that this thread"));
    }
  }

  private static void assertRefused(String message, Runnable call) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, call::run).getMessage());
  }
}
