package dev.gatun.cli.pd;

import dev.gatun.backend.Deadline;
import dev.gatun.device.Completion;
import dev.gatun.device.CudaDrivers;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * One rank's paged cache on a GPU, and prompts whose pages kernels make and check there, every byte of them. Block 0 is the null
 * block. One thread.
 */
final class DevicePrompts implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1); // milliseconds of work; more is a GPU that is stuck
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long SHUFFLE_SEED = 7;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Device gpu;
  private final DeviceSlab memory;
  private final DeviceEvent idle;
  private final PagedKvLayout layout;
  private final HeadRange heads;
  private final KnownPages known;
  private final Deque<Integer> free = new ArrayDeque<>();

  DevicePrompts(PdSide side, PdDevice device, int promptPages, int prompts) {
    KvShape shape = device.shape().ofRank(device.ranks(side));
    heads = HeadRange.common(device.shape().kvHeads(), device.ranks(side), 0, device.otherRanks(side), 0);
    int blocks = promptPages * prompts + 1;
    try {
      gpu = opened(open(side, device));
      memory = opened(gpu.allocate("kv cache", Math.multiplyExact(shape.valueBytes(), blocks)));
      layout = layout(shape, memory.address(), blocks);
      DeviceStream stream = opened(gpu.newStream("prompts", StreamPriority.HIGH));
      idle = opened(gpu.newEvent("idle"));
      known = opened(KnownPages.open(stream, view(), List.of(memory), promptPages));
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
    List<Integer> all = new ArrayList<>();
    for (int block = 1; block < blocks; block++)
      all.add(block);
    Collections.shuffle(all, new Random(SHUFFLE_SEED + device.ranks(side)));
    free.addAll(all);
  }

  /** Prefill takes GPU 0, decode GPU 1 where there is one. */
  private static Device open(PdSide side, PdDevice device) {
    if (device.driver().isPresent()) return Device.open(device.driver().get(), 0);
    int gpus = CudaDrivers.probe().devices().size();
    return Device.open(side == PdSide.DECODE && gpus > 1 ? 1 : 0);
  }

  /** Layer after layer, keys and values apart, each a tensor of token after token. */
  private static PagedKvLayout layout(KvShape shape, long address, int blocks) {
    List<Long> parts = new ArrayList<>();
    for (long part = 0; part < (long) shape.layers() * shape.parts(); part++)
      parts.add(address + part * shape.partBytes() * blocks);
    return new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, blocks, 0);
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }

  Device gpu() {
    return gpu;
  }

  /** {@return the whole cache of this rank, with the heads that both sides have} */
  PagedCache cache() {
    return new PagedCache(layout, List.of(memory), heads);
  }

  /** {@return the heads that both sides have, as if they were a cache} */
  PagedKvLayout view() {
    return layout.of(heads);
  }

  DeviceSlab memory() {
    return memory;
  }

  /** {@return done whenever it is asked: for what waits for nothing} */
  Completion idle() {
    return idle;
  }

  /** Takes blocks that nobody holds. */
  int[] lease(int count) {
    if (free.size() < count) {
      throw new IllegalStateException("of " + count + " blocks only " + free.size() + " are free");
    }
    int[] blocks = new int[count];
    for (int i = 0; i < count; i++)
      blocks[i] = free.remove();
    return blocks;
  }

  /** Gives blocks back, to be taken again last. */
  void release(int[] blocks) {
    for (int block : blocks)
      free.add(block);
  }

  int blocks() {
    return layout.blocks() - 1;
  }

  int freeBlocks() {
    return free.size();
  }

  /** Makes the pages of a prompt and waits until they are there. {@return an event that is done} */
  Completion fill(int[] blocks, long prompt, long version) {
    add(blocks, prompt, version);
    return known.fill(idle).await(soon()).done();
  }

  /** {@return pages that are not what they must be, every byte compared} */
  int wrong(int[] blocks, long prompt, long version) {
    add(blocks, prompt, version);
    known.check(idle).await(soon());
    int wrong = 0;
    for (int page = 0; page < blocks.length; page++)
      if (!known.isRight(page)) wrong++;
    return wrong;
  }

  private void add(int[] blocks, long prompt, long version) {
    known.clear(soon());
    for (int page = 0; page < blocks.length; page++) {
      long first = KnownPages.word(prompt * GOLDEN + version, KnownPages.HEADER_WORDS + page);
      known.add(blocks[page], first, version, prompt, page);
    }
  }

  static Deadline soon() {
    return Deadline.after(PATIENCE);
  }

  /** Gives everything back. What was built on it is closed before. */
  @Override
  public void close() {
    closeAll(opened);
  }

  /** Closes what was opened last first; what is refused stays, and can be closed again. */
  static void closeAll(Deque<AutoCloseable> opened) {
    while (!opened.isEmpty()) {
      try {
        opened.peek().close();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception checked) {
        throw new IllegalStateException(checked);
      }
      opened.pop();
    }
  }
}
