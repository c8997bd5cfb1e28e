package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the page kernels must do, compared with copies in Java, every byte around what they write included. */
@SuppressWarnings("NullAway.Init")
abstract class PageCopyContract {
  private static final int SLABS = 3;
  private static final long SEED = 20_261_129;

  private Device gpu;
  private DeviceStream stream;
  private PageCopy pages;

  abstract String driver();

  @BeforeEach
  void open() {
    gpu = Device.open(driver(), 0);
    stream = gpu.newStream("stream", StreamPriority.LOW);
    pages = PageCopy.load(gpu);
  }

  @AfterEach
  void closeAll() {
    pages.close();
    stream.close();
    gpu.close();
  }

  @ParameterizedTest(name = "fragments of {0} bytes")
  @ValueSource(longs = {1, 4, 33, 64, 72, 100, 576, 4_096, 18_432, 32_768, 1 << 20})
  @DisplayName("gather, scatter and move equal copies in Java, for every alignment, at odd strides, with guards around")
  void likeCopiesInJava(long fragmentBytes) {
    Random random = new Random(SEED + fragmentBytes);
    int count = Math.clamp((4 << 20) / fragmentBytes, 3, 300);
    for (int alignment : new int[]{1, 4, 8, 16}) {
      for (int round = 0; round < 2; round++) {
        try (Bed bed = new Bed(random, fragmentBytes, count, alignment)) {
          bed.gatherAndCheck(pages);
          bed.scatterAndCheck(pages);
          bed.moveAndCheck();
        }
      }
    }
  }

  @ParameterizedTest(name = "batches: {0}")
  @ValueSource(booleans = {false, true})
  @DisplayName("the copy engine moves the same bytes, more fragments than one batch takes and none, to pinned memory too")
  void copyEngine(boolean batches) {
    try (DmaCopy dma = DmaCopy.open(gpu, batches); Bed bed = new Bed(new Random(SEED), 72, 2_500, 4)) {
      bed.gatherAndCheck(dma);
      bed.scatterAndCheck(dma);
      bed.throughPinnedMemory(dma);
      bed.throughPinnedMemory(pages);
      dma.gather(bed.table, 0, 0, bed.contiguous, 0);
      assertThrows(IllegalArgumentException.class, () -> dma.gather(bed.table, 1, 2_500, bed.contiguous, 0));
      assertThrows(IllegalArgumentException.class, () -> dma.scatter(bed.contiguous, 300, bed.table, 0, 2_500));
      assertEquals(batches && gpu.driver().copiesBatches(), dma.isBatched());
      // as large as goes in batches, and more of them than the driver stands in one call
      try (Bed large = new Bed(new Random(SEED), 64 << 10, 600, 16)) {
        large.gatherAndCheck(dma);
        large.scatterAndCheck(dma);
      }
    }
  }

  @Test
  @DisplayName("a launch takes part of a table, and nothing of it")
  void partsOfATable() {
    try (Bed bed = new Bed(new Random(SEED), 128, 40, 16)) {
      bed.gatherPart(7, 21);
      bed.gatherPart(0, 0);
      bed.gatherPart(39, 1);
    }
  }

  @Test
  @DisplayName("fragments outside their slab, full tables, entries not uploaded and ranges too small are refused")
  void refusesBadArguments() {
    try (DeviceSlab memory = gpu.allocate("memory", 1_000);
        FragmentTable table = FragmentTable.allocate("table", stream, List.of(memory), 100, 2)) {
      assertTrue(message(IllegalArgumentException.class, () -> table.add(0, 901)).contains("offset must be 0 to 900"));
      assertThrows(IllegalArgumentException.class, () -> table.add(0, -1));
      assertThrows(IllegalArgumentException.class, () -> table.add(1, 0));
      table.add(0, 900);
      assertTrue(message(IllegalArgumentException.class, () -> pages.gather(table, 0, 1, memory, 0))
          .contains("fragments must be uploaded: 1 from 0 on asked of 0"));
      table.upload();
      table.add(0, 0);
      assertTrue(message(IllegalStateException.class, () -> table.add(0, 0)).contains("is full: 2"));
      assertThrows(IllegalArgumentException.class, () -> pages.gather(table, 1, 1, memory, 0));
      assertThrows(IllegalArgumentException.class, () -> pages.gather(table, -1, 1, memory, 0));
      table.upload();
      assertTrue(message(IllegalArgumentException.class, () -> pages.gather(table, 0, 2, memory, 801))
          .startsWith("targetOffset must lie"));
      assertTrue(message(IllegalArgumentException.class, () -> pages.scatter(memory, -1, table, 0, 2))
          .startsWith("sourceOffset must lie"));
      try (FragmentTable other = FragmentTable.allocate("other", stream, List.of(memory), 50, 2)) {
        other.add(0, 0);
        other.upload();
        assertThrows(IllegalArgumentException.class, () -> pages.move(table, 0, other, 0, 1));
      }
      assertEquals(2, table.count());
      assertEquals(0, table.clear(longEnough()).count());
      assertThrows(IllegalArgumentException.class, () -> pages.gather(table, 0, 1, memory, 0));
    }
    assertThrows(IllegalArgumentException.class, () -> PageCopy.load(gpu, 0));
    assertThrows(IllegalArgumentException.class,
        () -> FragmentTable.allocate("table", stream, List.of(), 100, 2));
  }

  @Test
  @DisplayName("the fragments of an engine's blocks are gathered in the order of the page; a layout outside the slabs is refused")
  void blocksOfALayout() {
    KvShape shape = new KvShape(3, 2, 2, 20, 4, 2);
    KvStrides strides = KvStrides.tokensFirst(shape).withBlockBytes(shape.partBytes() + 8);
    int blocks = 9;
    long tensorBytes = strides.blockBytes() * blocks;
    Random random = new Random(SEED);
    try (Slab slab = Slab.allocate(SlabOptions.of("host", 2 * tensorBytes * shape.layers()));
        PinnedSlab host = gpu.pin(slab);
        DeviceSlab cache = gpu.allocate("cache", 2 * tensorBytes * shape.layers());
        DeviceSlab ring = gpu.allocate("ring", 2 * shape.valueBytes())) {
      byte[] image = new byte[(int) cache.byteSize()];
      random.nextBytes(image);
      slab.segment().copyFrom(MemorySegment.ofArray(image));
      stream.copy(cache, 0, host, 0, image.length).await(longEnough());
      List<Long> parts = new ArrayList<>();
      for (int part = 0; part < 2 * shape.layers(); part++)
        parts.add(cache.address() + part * tensorBytes);
      PagedKvLayout layout = new PagedKvLayout(shape, strides, parts, blocks, 0);
      try (FragmentTable table = FragmentTable.allocate("table", stream, List.of(cache), layout.fragmentBytes(),
          2 * layout.fragments() + 1)) {
        table.addBlock(layout, 8).addBlock(layout, 3).upload();
        pages.gather(table, 0, table.count(), ring, 0);
        stream.copy(host, 0, ring, 0, ring.byteSize()).await(longEnough());
        int at = 0;
        for (int block : new int[]{8, 3}) {
          for (int part = 0; part < parts.size(); part++) {
            int from = (int) (part * tensorBytes + block * strides.blockBytes());
            for (int i = 0; i < shape.partBytes(); i++)
              assertEquals(image[from + i], slab.segment().get(JAVA_BYTE, at++), "block " + block + ", part " + part);
          }
        }
        assertThrows(IllegalStateException.class, () -> table.addBlock(layout, 1));
        table.clear(longEnough());
        assertThrows(IllegalArgumentException.class, () -> table.addBlock(layout, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> table.addBlock(layout, blocks));
        PagedKvLayout beyond = new PagedKvLayout(shape, strides,
            parts.stream().map(part -> part + strides.blockBytes()).toList(), blocks, 0);
        assertTrue(message(IllegalArgumentException.class, () -> table.addBlock(beyond, 1))
            .contains("layout must lie in the slabs of table"));
        assertEquals(0, table.count());
      }
      try (FragmentTable table = FragmentTable.allocate("table", stream, List.of(cache), 16, 100)) {
        assertTrue(message(IllegalArgumentException.class, () -> table.addBlock(layout, 1))
            .contains("layout must have fragments of 16 bytes"));
      }
    }
  }

  @Test
  @DisplayName("a table holds its slabs and its stream open, and is refused after its close")
  void closeOrder() {
    DeviceSlab memory = gpu.allocate("memory", 1_000);
    FragmentTable table = FragmentTable.allocate("table", stream, List.of(memory), 100, 2);
    assertTrue(message(InUseException.class, memory::close).contains("close [table of GPU 0"));
    assertThrows(InUseException.class, stream::close);
    table.add(0, 0);
    table.upload();
    table.close();
    table.close();
    assertThrows(ClosedException.class, () -> pages.gather(table, 0, 1, memory, 200));
    assertThrows(ClosedException.class, table::upload);
    assertTrue(message(ClosedException.class, () -> table.add(0, 0)).contains("table of GPU 0"));
    assertThrows(ClosedException.class, () -> table.clear(longEnough()));
    memory.close();
  }

  private static Deadline longEnough() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  /**
   * Slabs of random bytes with fragments scattered in them at odd strides, none overlapping, and a contiguous range in the
   * middle of a slab of its own; beside each device slab what it must hold.
   */
  private final class Bed implements AutoCloseable {
    private final Random random;
    private final int fragmentBytes;
    private final int count;
    private final List<DeviceSlab> slabs = new ArrayList<>();
    private final List<byte[]> expected = new ArrayList<>();
    private final int[] slabOf;
    private final int[] offsetOf;
    private final DeviceSlab contiguous;
    private final int contiguousOffset;
    private byte[] contiguousExpected;
    private final Slab slab;
    private final PinnedSlab host;
    private final FragmentTable table;

    Bed(Random random, long fragmentBytes, int count, int alignment) {
      this.random = random;
      this.fragmentBytes = (int) fragmentBytes;
      this.count = count;
      // fragments at a stride that leaves a guard between them, from a start with the alignment that is wanted
      int stride = Math.ceilDiv(this.fragmentBytes + 1 + random.nextInt(64), alignment) * alignment;
      int perSlab = Math.ceilDiv(count, SLABS);
      int slabBytes = stride * (perSlab + 1) + 64;
      slab = Slab.allocate(SlabOptions.of("host", Math.max(slabBytes, (long) count * fragmentBytes + 256)));
      host = gpu.pin(slab);
      for (int i = 0; i < SLABS; i++)
        slabs.add(filled("slab " + i, slabBytes, expected));
      List<byte[]> last = new ArrayList<>();
      contiguous = filled("contiguous", (long) count * fragmentBytes + 256, last);
      contiguousExpected = last.getFirst();
      contiguousOffset = alignment * (1 + random.nextInt(128 / alignment));
      slabOf = new int[count];
      offsetOf = new int[count];
      int phase = alignment == 16 ? 0 : alignment;
      int[] places = random.ints(0, perSlab * SLABS).distinct().limit(count).toArray();
      for (int i = 0; i < count; i++) {
        slabOf[i] = places[i] / perSlab;
        offsetOf[i] = phase + places[i] % perSlab * stride;
      }
      table = FragmentTable.allocate("table", stream, slabs, fragmentBytes, count);
      for (int i = 0; i < count; i++)
        table.add(slabOf[i], offsetOf[i]);
      table.upload();
    }

    private DeviceSlab filled(String name, long bytes, List<byte[]> images) {
      DeviceSlab filled = gpu.allocate(name, bytes);
      byte[] image = new byte[(int) bytes];
      random.nextBytes(image);
      slab.segment().copyFrom(MemorySegment.ofArray(image));
      stream.copy(filled, 0, host, 0, bytes).await(longEnough());
      images.add(image);
      return filled;
    }

    void gatherAndCheck(FragmentCopy way) {
      way.gather(table, 0, count, contiguous, contiguousOffset);
      for (int i = 0; i < count; i++) {
        System.arraycopy(expected.get(slabOf[i]), offsetOf[i], contiguousExpected,
            contiguousOffset + i * fragmentBytes, fragmentBytes);
      }
      check();
    }

    /** Out to the pinned slab and, each byte changed there, back to where it came from. */
    void throughPinnedMemory(FragmentCopy way) {
      long bytes = (long) count * fragmentBytes;
      slab.segment().fill((byte) 0);
      way.gather(table, 0, count, host, 128);
      stream.await(longEnough());
      byte[] page = slab.segment().asSlice(128, bytes).toArray(JAVA_BYTE);
      assertEquals(0, slab.segment().get(JAVA_BYTE, 127));
      for (int i = 0; i < count; i++) {
        for (int at = 0; at < fragmentBytes; at++)
          assertEquals(expected.get(slabOf[i])[offsetOf[i] + at], page[i * fragmentBytes + at]);
        for (int at = 0; at < fragmentBytes; at++)
          page[i * fragmentBytes + at] ^= (byte) i;
        System.arraycopy(page, i * fragmentBytes, expected.get(slabOf[i]), offsetOf[i], fragmentBytes);
      }
      slab.segment().asSlice(128, bytes).copyFrom(MemorySegment.ofArray(page));
      way.scatter(host, 128, table, 0, count);
      stream.await(longEnough());
      check();
    }

    void gatherPart(int first, int entries) {
      pages.gather(table, first, entries, contiguous, contiguousOffset);
      for (int i = 0; i < entries; i++) {
        System.arraycopy(expected.get(slabOf[first + i]), offsetOf[first + i], contiguousExpected,
            contiguousOffset + i * fragmentBytes, fragmentBytes);
      }
      check();
    }

    void scatterAndCheck(FragmentCopy way) {
      random.nextBytes(contiguousExpected);
      slab.segment().copyFrom(MemorySegment.ofArray(contiguousExpected));
      stream.copy(contiguous, 0, host, 0, contiguousExpected.length).await(longEnough());
      way.scatter(contiguous, contiguousOffset, table, 0, count);
      for (int i = 0; i < count; i++) {
        System.arraycopy(contiguousExpected, contiguousOffset + i * fragmentBytes, expected.get(slabOf[i]), offsetOf[i],
            fragmentBytes);
      }
      check();
    }

    /** Sources are the first half of the fragments, several times over; targets are the second half. */
    void moveAndCheck() {
      int half = count / 2;
      try (FragmentTable sources = FragmentTable.allocate("sources", stream, slabs, fragmentBytes, count)) {
        int[] from = random.ints(count - half, 0, half).toArray();
        for (int i : from)
          sources.add(slabOf[i], offsetOf[i]);
        sources.upload();
        pages.move(sources, 0, table, half, count - half);
        for (int i = 0; i < from.length; i++) {
          System.arraycopy(expected.get(slabOf[from[i]]), offsetOf[from[i]], expected.get(slabOf[half + i]),
              offsetOf[half + i], fragmentBytes);
        }
        check();
      }
    }

    private void check() {
      for (int i = 0; i < SLABS; i++)
        assertArrayEquals(expected.get(i), image(slabs.get(i)), "slab " + i);
      assertArrayEquals(contiguousExpected, image(contiguous), "contiguous");
    }

    private byte[] image(DeviceSlab memory) {
      slab.segment().fill((byte) 0);
      stream.copy(host, 0, memory, 0, memory.byteSize()).await(longEnough());
      return slab.segment().asSlice(0, memory.byteSize()).toArray(JAVA_BYTE);
    }

    @Override
    public void close() {
      table.close();
      contiguous.close();
      slabs.forEach(DeviceSlab::close);
      host.close();
      slab.close();
    }
  }
}
