package dev.gatun.device;

/**
 * Distances in bytes inside one tensor of a paged KV cache. Elements of a head always lie side by side.
 *
 * @param blockBytes from a block to the next
 * @param tokenBytes from a token to the next of the same block and head
 * @param headBytes from a head to the next of the same block and token
 */
public record KvStrides(long blockBytes, long tokenBytes, long headBytes) {
  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field, its value and what is allowed
   */
  public KvStrides {
    positive("blockBytes", blockBytes);
    positive("tokenBytes", tokenBytes);
    positive("headBytes", headBytes);
  }

  /**
   * {@return strides without gaps of a tensor whose blocks hold token after token, each with all heads: NHD}
   *
   * @param shape sizes of the cache
   */
  public static KvStrides tokensFirst(KvShape shape) {
    return new KvStrides(shape.partBytes(), shape.headBytes() * shape.kvHeads(), shape.headBytes());
  }

  /**
   * {@return strides without gaps of a tensor whose blocks hold head after head, each with all tokens: HND}
   *
   * @param shape sizes of the cache
   */
  public static KvStrides headsFirst(KvShape shape) {
    return new KvStrides(shape.partBytes(), shape.headBytes(), shape.headBytes() * shape.blockTokens());
  }

  /**
   * {@return these strides with other ones between blocks, for padded blocks, or blocks that hold keys and values}
   *
   * @param bytes from a block to the next
   */
  public KvStrides withBlockBytes(long bytes) {
    return new KvStrides(bytes, tokenBytes, headBytes);
  }

  private static void positive(String field, long value) {
    if (value <= 0) throw new IllegalArgumentException(field + " must be positive: " + value);
  }
}
