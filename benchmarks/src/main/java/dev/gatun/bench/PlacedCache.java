package dev.gatun.bench;

import dev.gatun.device.Device;
import dev.gatun.device.DeviceMemory;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.KvShape;
import dev.gatun.device.KvStrides;
import dev.gatun.device.PagedCache;
import dev.gatun.device.PagedKvLayout;
import dev.gatun.device.PinnedSlab;
import dev.gatun.device.StreamPriority;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * A paged cache of 160 fragments a block (80 layers, keys and values apart), each of a tensor of its own, with content that
 * depends on block and place.
 */
final class PlacedCache implements AutoCloseable {
  private static final int LAYERS = 80;
  /** Fragments of a block. */
  static final int PLACES = 2 * LAYERS;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final KvShape shape;
  private final int blocks;
  private final DeviceSlab memory;
  private final DeviceStream stream;
  private final Slab host;
  private final PinnedSlab pinned;

  PlacedCache(Device gpu, long fragmentBytes, int blocks) {
    shape = new KvShape(LAYERS, 2, 1, Math.toIntExact(fragmentBytes / 32), 16, 2);
    this.blocks = blocks;
    memory = gpu.allocate("cache", blocks * shape.valueBytes());
    stream = gpu.newStream("checks", StreamPriority.LOW);
    host = Slab.allocate(SlabOptions.of("tensor", blocks * fragmentBytes));
    pinned = gpu.pin(host);
  }

  DeviceSlab memory() {
    return memory;
  }

  long pageBytes() {
    return shape.valueBytes();
  }

  PagedCache cache() {
    return at(memory);
  }

  /** A cache like this one in the memory of another process. */
  PagedCache at(DeviceMemory other) {
    List<Long> places = new ArrayList<>();
    for (long place = 0; place < PLACES; place++)
      places.add(other.address() + place * tensorBytes());
    return new PagedCache(
        new PagedKvLayout(shape, KvStrides.tokensFirst(shape), places, blocks, PagedKvLayout.NO_NULL_BLOCK),
        List.of(other));
  }

  /** {@return bytes from a fragment of a block to the next} */
  long tensorBytes() {
    return blocks * shape.partBytes();
  }

  /** Fills every block. */
  void fill() {
    for (int place = 0; place < PLACES; place++) {
      for (long at = 0; at < tensorBytes(); at += Long.BYTES)
        host.segment().set(ValueLayout.JAVA_LONG, at, word(at / shape.partBytes(), place, at % shape.partBytes()));
      stream.copy(memory, place * tensorBytes(), pinned, 0, tensorBytes()).await(StagingCell.soon());
    }
  }

  /** Makes every byte zero. */
  void clear() {
    stream.fill(memory, 0, memory.byteSize(), (byte) 0).await(StagingCell.soon());
  }

  /** {@return how many blocks do not hold what the source's block has, or hold something that nobody sent} */
  int wrongBlocks(int[] sourceOf) {
    boolean[] wrong = new boolean[blocks];
    for (int place = 0; place < PLACES; place++) {
      stream.copy(pinned, 0, memory, place * tensorBytes(), tensorBytes()).await(StagingCell.soon());
      for (int block = 0; block < blocks; block++) {
        MemorySegment part = host.segment().asSlice(block * shape.partBytes(), shape.partBytes());
        for (long at = 0; at < part.byteSize(); at += Long.BYTES) {
          long expected = sourceOf[block] < 0 ? 0 : word(sourceOf[block], place, at);
          if (part.get(ValueLayout.JAVA_LONG, at) != expected) wrong[block] = true;
        }
      }
    }
    int count = 0;
    for (boolean one : wrong)
      if (one) count++;
    return count;
  }

  private static long word(long block, long place, long at) {
    return ((block * PLACES + place) << 20 | at) * GOLDEN;
  }

  @Override
  public void close() {
    pinned.close();
    host.close();
    stream.close();
    memory.close();
  }
}
