package dev.gatun.device;

import dev.gatun.device.PagedKvLayout.Order;
import java.util.ArrayList;
import java.util.List;

/** A cache as an engine could make it. {@code gaps}: bytes between heads, tokens and blocks; {@code fused}: K beside V. */
record PaddedCache(KvShape shape, Order order, boolean fused, List<Integer> gaps, int blocks) {
  long headStride() {
    return order == Order.TOKENS_FIRST
        ? shape.headBytes() + gaps.get(0)
        : tokenStride() * shape.blockTokens() + gaps.get(1);
  }

  long tokenStride() {
    return order == Order.TOKENS_FIRST
        ? headStride() * shape.kvHeads() + gaps.get(1)
        : shape.headBytes() + gaps.get(0);
  }

  long partExtent() {
    return order == Order.TOKENS_FIRST ? tokenStride() * shape.blockTokens() : headStride() * shape.kvHeads();
  }

  long blockStride() {
    return partExtent() * (fused ? shape.parts() : 1) + gaps.get(2);
  }

  KvStrides strides() {
    return new KvStrides(blockStride(), tokenStride(), headStride());
  }

  /** Address of block 0 of each part, in a memory that begins at {@code base}. */
  List<Long> parts(long base) {
    List<Long> parts = new ArrayList<>();
    long layerBytes = blockStride() * blocks * (fused ? 1 : shape.parts()) + 64;
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (int part = 0; part < shape.parts(); part++)
        parts.add(base + layer * layerBytes + part * (fused ? partExtent() : blockStride() * blocks));
    }
    return parts;
  }

  long bytes() {
    return (blockStride() * blocks * shape.parts() + 64) * shape.layers();
  }
}
