package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import dev.gatun.device.PagedKvLayout.Order;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Pages of known content are made and checked on the device, the same on host memory, on a stand-in and on GPUs. */
@SuppressWarnings("NullAway.Init")
abstract class KnownPagesContract {
  // 3 layers of keys and values, padded tokens of 72 bytes: 30 fragments a page, no two side by side
  private static final KvShape SHAPE = new KvShape(3, 2, 1, 36, 5, 2);
  private static final PaddedCache CACHE = new PaddedCache(SHAPE, Order.TOKENS_FIRST, false, List.of(0, 8, 16), 12);
  private static final int PAGES = 9;

  private Device gpu;
  private DeviceSlab memory;
  private DeviceStream stream;
  private DeviceEvent before;
  private Slab host;
  private PinnedSlab pinned;
  private PagedKvLayout layout;
  private KnownPages pages;

  abstract String driver();

  @BeforeEach
  void open() {
    gpu = Device.open(driver(), 0);
    memory = gpu.allocate("cache", CACHE.bytes());
    stream = gpu.newStream("known", StreamPriority.LOW);
    before = gpu.newEvent("before");
    host = Slab.allocate(SlabOptions.of("image", CACHE.bytes()));
    pinned = gpu.pin(host);
    layout = new PagedKvLayout(SHAPE, CACHE.strides(), CACHE.parts(memory.address()), CACHE.blocks(), 0);
    pages = KnownPages.open(stream, layout, List.of(memory), PAGES);
    stream.fill(memory, 0, CACHE.bytes(), (byte) 0x5A).await(soon());
  }

  @AfterEach
  void close() {
    pages.close();
    pinned.close();
    host.close();
    before.close();
    stream.close();
    memory.close();
    gpu.close();
  }

  @Test
  @DisplayName("every word of the pages is what the header says, and no byte between them changes")
  void fills() {
    addAll(7);
    pages.fill(before).await(soon());
    assertThrows(IllegalStateException.class, () -> pages.isRight(0), "nothing was checked");
    MemorySegment image = image();
    byte[] guarded = new byte[Math.toIntExact(CACHE.bytes())];
    MemorySegment addresses = MemorySegment.ofArray(new long[layout.fragments()]);
    for (int page = 0; page < PAGES; page++) {
      layout.addresses(block(page), addresses, 0);
      for (int word = 0; word < layout.valueBytes() / Long.BYTES; word++) {
        long inPage = (long) word * Long.BYTES;
        long address = addresses.getAtIndex(JAVA_LONG, inPage / layout.fragmentBytes())
            + inPage % layout.fragmentBytes() - memory.address();
        assertEquals(expected(7, page, word), image.get(JAVA_LONG, address), "page " + page + " word " + word);
        for (int i = 0; i < Long.BYTES; i++)
          guarded[(int) address + i] = 1;
      }
    }
    for (int i = 0; i < guarded.length; i++)
      if (guarded[i] == 0) assertEquals(0x5A, image.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i), "byte " + i);
  }

  @Test
  @DisplayName("one word changed anywhere in a page is seen, in that page alone")
  void seesOneWord() {
    Random random = new Random(4);
    addAll(3);
    pages.fill(before).await(soon());
    pages.check(before).await(soon());
    for (int page = 0; page < PAGES; page++)
      assertTrue(pages.isRight(page), "page " + page);
    MemorySegment addresses = MemorySegment.ofArray(new long[layout.fragments()]);
    for (int round = 0; round < 40; round++) {
      int spoilt = random.nextInt(PAGES);
      layout.addresses(block(spoilt), addresses, 0);
      long place = addresses.getAtIndex(JAVA_LONG, random.nextInt(layout.fragments())) - memory.address()
          + random.nextInt((int) layout.fragmentBytes());
      byte was = image().get(java.lang.foreign.ValueLayout.JAVA_BYTE, place);
      stream.fill(memory, place, 1, (byte) (was ^ 1 << random.nextInt(8)));
      pages.check(before).await(soon());
      for (int page = 0; page < PAGES; page++)
        assertEquals(page != spoilt, pages.isRight(page), "page " + page + ", byte " + place + " changed");
      stream.fill(memory, place, 1, was);
    }
    pages.check(before).await(soon());
    for (int page = 0; page < PAGES; page++)
      assertTrue(pages.isRight(page), "mended, page " + page);
  }

  @Test
  @DisplayName("a page of older weights is told by the header that is found")
  void tellsWhatIsThere() {
    addAll(3);
    pages.fill(before).await(soon());
    pages.clear(soon());
    addAll(4);
    pages.check(before).await(soon());
    for (int page = 0; page < PAGES; page++) {
      assertFalse(pages.isRight(page));
      for (int word = 0; word < KnownPages.HEADER_WORDS; word++)
        assertEquals(expected(3, page, word), pages.foundHeader(page, word));
    }
    pages.clear(soon()).check(before).await(soon());
    assertThrows(IndexOutOfBoundsException.class, () -> pages.isRight(0));
  }

  @Test
  @DisplayName("a check waits for what brings the pages")
  void waitsForPages() throws Exception {
    addAll(5);
    try (DeviceStream producer = gpu.newStream("producer", StreamPriority.HIGH);
        KnownPages maker = KnownPages.open(producer, layout, List.of(memory), 1)) {
      maker.add(block(0), header(5, 0, 0), header(5, 0, 1), header(5, 0, 2), header(5, 0, 3));
      // a driver may load a kernel when it is launched first, and wait for the GPU to be idle before
      maker.fill(before).await(soon());
      pages.check(before).await(soon());
      stream.fill(memory, 0, CACHE.bytes(), (byte) 0x5A).await(soon());
      try (Hold hold = new Hold(producer)) {
        maker.fill(before);
        pages.check(maker.done());
        assertFalse(pages.done().isDone());
        hold.release();
        pages.await(soon());
        assertTrue(pages.isRight(0));
        assertFalse(pages.isRight(1));
      }
    }
  }

  @Test
  @DisplayName("what cannot be is refused by name")
  void refuses() {
    KvShape odd = new KvShape(1, 1, 1, 3, 20, 2);
    PagedKvLayout padded = new PagedKvLayout(odd, new KvStrides(400, 20, 6), List.of(memory.address()), 1, -1);
    assertTrue(message(IllegalArgumentException.class, () -> KnownPages.open(stream, padded, List.of(memory), 1))
        .contains("multiple of 8 bytes"));
    assertThrows(IllegalArgumentException.class, () -> KnownPages.open(stream, layout, List.of(memory), 0));
    PagedKvLayout shifted = new PagedKvLayout(new KvShape(1, 1, 1, 32, 1, 2), new KvStrides(64, 64, 64),
        List.of(memory.address() + 4), 1, -1);
    try (KnownPages unaligned = KnownPages.open(stream, shifted, List.of(memory), 1)) {
      assertTrue(
          message(IllegalArgumentException.class, () -> unaligned.add(0, 1, 2, 3, 4)).contains("8-byte aligned"));
      unaligned.fill(before).await(soon()); // nothing was added
    }
    assertThrows(IllegalArgumentException.class, () -> pages.add(0, 1, 2, 3, 4), "the null block");
    assertThrows(IllegalArgumentException.class,
        () -> KnownPages.open(stream, layout, List.of(memory), Integer.MAX_VALUE));
    assertThrows(InUseException.class, memory::close);
    addAll(1);
    assertThrows(IllegalStateException.class, () -> pages.add(1, 1, 2, 3, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> pages.foundHeader(0, 4));
  }

  @Test
  @DisplayName("closed pages refuse every call by name, and their end is there to wait for only")
  void refusesWhenClosed() {
    Completion done = pages.done();
    assertFalse(done instanceof DeviceEvent);
    pages.close();
    assertTrue(message(ClosedException.class, () -> pages.add(1, 1, 2, 3, 4)).contains("known pages of"));
    assertThrows(ClosedException.class, () -> pages.clear(soon()));
    assertThrows(ClosedException.class, () -> pages.fill(before));
    assertThrows(ClosedException.class, () -> pages.check(before));
    assertThrows(ClosedException.class, () -> pages.await(soon()));
    assertThrows(ClosedException.class, pages::done);
    assertThrows(ClosedException.class, () -> stream.waitFor(done));
  }

  private void addAll(long seed) {
    for (int page = 0; page < PAGES; page++)
      pages.add(block(page), header(seed, page, 0), header(seed, page, 1), header(seed, page, 2),
          header(seed, page, 3));
  }

  private static int block(int page) {
    return 1 + (page * 5 + 2) % 11;
  }

  private static long header(long seed, int page, int word) {
    return seed * 1_000_003 + page * 97L + word;
  }

  private static long expected(long seed, int page, int word) {
    return word < KnownPages.HEADER_WORDS
        ? header(seed, page, word)
        : KnownPages.word(header(seed, page, 0), word);
  }

  private MemorySegment image() {
    stream.copy(pinned, 0, memory, 0, CACHE.bytes()).await(soon());
    return host.segment();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }
}
