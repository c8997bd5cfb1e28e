package dev.gatun.codec;

import java.util.List;

/** The byte form of what is hashed: a parent, the tokens of a block, and the extras. */
interface HashInput {
  /** The form of a seed, whose hash is the parent of first blocks. */
  byte[] seed(String text);

  /** The form of a block. */
  byte[] block(byte[] parent, long[] tokens, int from, int to, List<BlockExtra> extras);
}
