package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.device.Completion;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.HeadRange;
import dev.gatun.device.KnownPages;
import dev.gatun.device.KvShape;
import dev.gatun.device.KvStrides;
import dev.gatun.device.PagedCache;
import dev.gatun.device.PagedKvLayout;
import dev.gatun.device.StreamPriority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A paged cache of known pages on a GPU, one rank's: block 0 is the engine's null block. */
final class LinkBed implements AutoCloseable {
  static final int BLOCKS = 1500;
  static final int HEADS = 8;

  private final Device gpu;
  private final DeviceStream stream;
  private final DeviceEvent idle;
  private final DeviceSlab memory;
  private final PagedKvLayout layout;
  private final HeadRange heads;
  private final KnownPages known;

  /**
   * Opens a GPU of its own.
   *
   * @param ranks tensor-parallel degree of this side; it is rank 0
   * @param otherRanks of the other side, rank 0 too
   */
  LinkBed(String driver, int ordinal, int ranks, int otherRanks, int blockTokens) {
    gpu = Device.open(driver, ordinal);
    stream = gpu.newStream("known", StreamPriority.HIGH);
    idle = gpu.newEvent("idle");
    KvShape shape = new KvShape(3, 2, HEADS, 8, blockTokens, 2).ofRank(ranks);
    memory = gpu.allocate("cache", shape.valueBytes() * BLOCKS);
    List<Long> parts = new ArrayList<>();
    for (int part = 0; part < 6; part++)
      parts.add(memory.address() + part * shape.partBytes() * BLOCKS);
    layout = new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, BLOCKS, 0);
    heads = HeadRange.common(HEADS, ranks, 0, otherRanks, 0);
    known = KnownPages.open(stream, layout.of(heads), List.of(memory), BLOCKS);
  }

  static LinkBed plain(String driver, int ordinal) {
    return new LinkBed(driver, ordinal, 1, 1, 4);
  }

  static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  Device gpu() {
    return gpu;
  }

  DeviceStream stream() {
    return stream;
  }

  PagedCache cache() {
    return new PagedCache(layout, List.of(memory), heads);
  }

  DeviceSlab memory() {
    return memory;
  }

  /** {@return done: pages are there whose content is of a seed and their place in the list} */
  Completion fill(int[] blocks, long seed) {
    add(blocks, seed);
    known.fill(idle).await(soon());
    return known.done();
  }

  /** {@return how many of the pages, in the order in which they were made, are not right in every byte} */
  int wrong(int[] blocks, long seed) {
    add(blocks, seed);
    known.check(idle).await(soon());
    int wrong = 0;
    for (int i = 0; i < blocks.length; i++)
      if (!known.isRight(i)) wrong++;
    return wrong;
  }

  private void add(int[] blocks, long seed) {
    known.clear(soon());
    for (int i = 0; i < blocks.length; i++)
      known.add(blocks[i], seed * 1_000_003 + i, seed, i, 0);
  }

  /** Frees the memory, which must not be shared any more. */
  void free() {
    known.close();
    memory.close();
  }

  @Override
  public void close() {
    free();
    idle.close();
    stream.close();
    gpu.close();
  }
}
