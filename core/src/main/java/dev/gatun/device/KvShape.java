package dev.gatun.device;

/**
 * What one rank's KV cache holds for each logical block, without saying where. Sizes are those of this rank: with tensor
 * parallelism, its own heads.
 *
 * @param layers layers of the model (of this pipeline stage)
 * @param parts 2 for keys and values, 1 for a latent cache (MLA), which has no values
 * @param kvHeads heads of this rank; 1 for a latent cache
 * @param headSize elements of a head; for a latent cache of its one vector, rotary part included
 * @param blockTokens tokens of a block
 * @param elementBytes bytes of an element, 1 (8-bit types) to 8
 */
public record KvShape(int layers, int parts, int kvHeads, int headSize, int blockTokens, int elementBytes) {
  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field, its value and what is allowed
   */
  public KvShape {
    positive("layers", layers);
    if (parts != 1 && parts != 2) throw new IllegalArgumentException("parts must be 1 or 2: " + parts);
    positive("kvHeads", kvHeads);
    positive("headSize", headSize);
    positive("blockTokens", blockTokens);
    positive("elementBytes", elementBytes);
    if (elementBytes > 8) throw new IllegalArgumentException("elementBytes must be 8 or less: " + elementBytes);
    try {
      Math.multiplyExact(Math.multiplyExact((long) layers * parts, (long) blockTokens * kvHeads),
          (long) headSize * elementBytes);
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("a block must have fewer than 2^63 bytes: " + layers + " layers of " + parts
          + " parts of " + blockTokens + " tokens of " + kvHeads + " heads of " + headSize + " elements", e);
    }
  }

  /**
   * The shape of one rank of a tensor-parallel group. A rank holds at least one head: with more ranks than heads, several
   * hold the same one.
   *
   * @param ranks ranks of the group, 1 or more
   * @return this shape with the heads of one rank; a latent cache is whole on each
   * @throws IllegalArgumentException if the heads cannot be dealt out evenly
   */
  public KvShape ofRank(int ranks) {
    positive("ranks", ranks);
    if (parts == 1) return this;
    if (kvHeads % ranks != 0 && ranks % kvHeads != 0) {
      throw new IllegalArgumentException("ranks must divide " + kvHeads + " heads, or be a multiple of them: " + ranks);
    }
    return new KvShape(layers, parts, Math.max(1, kvHeads / ranks), headSize, blockTokens, elementBytes);
  }

  /** {@return bytes of one head of one token} */
  public long headBytes() {
    return (long) headSize * elementBytes;
  }

  /** {@return bytes of one part of one layer of a block} */
  public long partBytes() {
    return headBytes() * kvHeads * blockTokens;
  }

  /** {@return bytes of a whole block: what a page of it needs} */
  public long valueBytes() {
    return partBytes() * parts * layers;
  }

  private static void positive(String field, int value) {
    if (value <= 0) throw new IllegalArgumentException(field + " must be positive: " + value);
  }
}
