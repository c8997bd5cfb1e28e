package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gatun.backend.Deadline;
import dev.gatun.device.PagedKvLayout.Order;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** A paged cache of random bytes in GPU memory, and in Java what it must hold. */
final class PushBed implements AutoCloseable {
  /** A cache and its heads that take part. Block 0 is its null block. */
  record Side(PaddedCache cache, HeadRange heads) {
    static Side plain(KvShape shape, int blocks) {
      return new Side(new PaddedCache(shape, Order.TOKENS_FIRST, false, List.of(0, 0, 0), blocks + 1),
          HeadRange.all(shape));
    }

    static Side random(Random random, KvShape shape, int heads) {
      List<Integer> gaps = new ArrayList<>();
      for (int i = 0; i < 3; i++)
        gaps.add(random.nextBoolean() ? 0 : random.nextInt(20));
      Order order = random.nextBoolean() ? Order.TOKENS_FIRST : Order.HEADS_FIRST;
      int first = random.nextInt(shape.kvHeads() - heads + 1);
      return new Side(new PaddedCache(shape, order, random.nextBoolean(), gaps, 6), new HeadRange(first, heads));
    }

    int blocks() {
      return cache.blocks();
    }

    PagedKvLayout layout(long address) {
      return new PagedKvLayout(cache.shape(), cache.strides(), cache.parts(address), cache.blocks(), 0);
    }
  }

  private final Side side;
  private final DeviceStream stream;
  private final DeviceSlab memory;
  private final Slab host;
  private final PinnedSlab pinned;
  private final byte[] expected;

  PushBed(Device gpu, DeviceStream stream, Side side, long seed) {
    this.side = side;
    this.stream = stream;
    memory = gpu.allocate("cache", side.cache().bytes());
    host = Slab.allocate(SlabOptions.of("image", side.cache().bytes()));
    pinned = gpu.pin(host);
    expected = new byte[Math.toIntExact(side.cache().bytes())];
    new Random(seed).nextBytes(expected);
    MemorySegment.copy(expected, 0, host.segment(), JAVA_BYTE, 0, expected.length);
    stream.copy(memory, 0, pinned, 0, expected.length).await(soon());
  }

  static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  static KvShape shape(Random random, int heads) {
    return new KvShape(1 + random.nextInt(3), 1 + random.nextInt(2), heads, 1 + random.nextInt(9),
        1 + random.nextInt(5), 1 << random.nextInt(3));
  }

  static KvShape withHeads(KvShape shape, int heads) {
    return new KvShape(shape.layers(), shape.parts(), heads, shape.headSize(), shape.blockTokens(),
        shape.elementBytes());
  }

  /** Blocks in random order, without the null block. */
  static List<Integer> blocks(Random random, int blocks, int count) {
    List<Integer> all = new ArrayList<>();
    for (int block = 1; block < blocks; block++)
      all.add(block);
    Collections.shuffle(all, random);
    return all.subList(0, count);
  }

  static void awaitFree(Device gpu, long bytes) {
    Deadline deadline = soon();
    while (gpu.freeBytes() < bytes) {
      if (deadline.reached()) fail("of " + bytes + " bytes only " + gpu.freeBytes() + " are free again");
      LockSupport.parkNanos(1_000_000);
    }
  }

  DeviceSlab slab() {
    return memory;
  }

  PagedCache cache() {
    return new PagedCache(side.layout(memory.address()), List.of(memory), side.heads());
  }

  /** From now on the block is to hold the heads of another cache's block; head by head, as slowly as it is plain. */
  void expect(int block, PushBed from, int sourceBlock) {
    KvShape shape = side.cache().shape();
    int headBytes = Math.toIntExact(shape.headBytes());
    List<Long> targets = side.cache().parts(0);
    List<Long> sources = from.side.cache().parts(0);
    for (int part = 0; part < targets.size(); part++) {
      for (int token = 0; token < shape.blockTokens(); token++) {
        for (int head = 0; head < side.heads().count(); head++) {
          System.arraycopy(from.expected, from.at(sources.get(part), sourceBlock, token, head), expected,
              at(targets.get(part), block, token, head), headBytes);
        }
      }
    }
  }

  private int at(long part, int block, int token, int head) {
    PaddedCache cache = side.cache();
    return Math.toIntExact(part + block * cache.blockStride() + token * cache.tokenStride()
        + (side.heads().first() + head) * cache.headStride());
  }

  void check() {
    stream.copy(pinned, 0, memory, 0, expected.length).await(soon());
    assertArrayEquals(expected, host.segment().asSlice(0, expected.length).toArray(JAVA_BYTE));
  }

  @Override
  public void close() {
    memory.close();
    pinned.close();
    host.close();
  }
}
