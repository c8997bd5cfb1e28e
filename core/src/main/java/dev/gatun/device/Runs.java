package dev.gatun.device;

import dev.gatun.device.PagedKvLayout.Order;

/**
 * The longest pieces of a block that lie together in every layer.
 *
 * @param partsTogether parts that make one piece: 2 where values follow their keys without a gap
 */
record Runs(long bytes, int partsTogether, int outerCount, long outerStride, int innerCount, long innerStride,
    int fragments) {
  static Runs of(KvShape shape, KvStrides strides, Order order, long[] parts) {
    boolean tokensOutside = order == Order.TOKENS_FIRST;
    int innerCount = tokensOutside ? shape.kvHeads() : shape.blockTokens();
    int outerCount = tokensOutside ? shape.blockTokens() : shape.kvHeads();
    long innerStride = tokensOutside ? strides.headBytes() : strides.tokenBytes();
    long outerStride = tokensOutside ? strides.tokenBytes() : strides.headBytes();
    long bytes = shape.headBytes();
    if (innerCount == 1 || innerStride == bytes) {
      bytes *= innerCount;
      innerCount = 1;
    }
    if (innerCount == 1 && (outerCount == 1 || outerStride == bytes)) {
      bytes *= outerCount;
      outerCount = 1;
    }
    int together = 1;
    if (bytes == shape.partBytes() && valuesFollow(shape, parts)) {
      bytes *= 2;
      together = 2;
    }
    long perPart = (long) outerCount * innerCount;
    if (perPart > Integer.MAX_VALUE / (parts.length / together)) {
      throw new IllegalArgumentException("a block must have fewer than 2^31 fragments: " + perPart + " in each of "
          + parts.length / together + " parts");
    }
    int fragments = (int) perPart * (parts.length / together);
    return new Runs(bytes, together, outerCount, outerStride, innerCount, innerStride, fragments);
  }

  private static boolean valuesFollow(KvShape shape, long[] parts) {
    if (shape.parts() != 2) return false;
    for (int keys = 0; keys < parts.length; keys += 2)
      if (parts[keys + 1] - parts[keys] != shape.partBytes()) return false;
    return true;
  }
}
