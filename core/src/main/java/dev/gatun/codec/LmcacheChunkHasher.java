package dev.gatun.codec;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The hashes that LMCache gives the chunks of a prompt with {@code sha256_cbor}: the first 64 bits of SHA-256 of the CBOR
 * form. Its default, {@code builtin}, is that of Python's process and cannot be computed elsewhere. Immutable, usable by
 * any thread.
 */
public final class LmcacheChunkHasher {
  private final long root;

  /**
   * Makes the hashes of processes started alike.
   *
   * @param seed their PYTHONHASHSEED
   */
  public LmcacheChunkHasher(String seed) {
    root = first(new CborWriter().text(Text.utf8("seed", Text.required("seed", seed))).toBytes());
  }

  /** {@return what stands for the chunk before the first, in hex} */
  public String root() {
    return Long.toHexString(root);
  }

  /**
   * {@return the hashes of the full chunks of a prompt, in hex; tokens that do not fill a chunk have none}
   *
   * @param tokens of the prompt, each 0 or more
   * @param chunkTokens tokens a chunk, 1 or more; LMCache's default is 256
   * @throws IllegalArgumentException if a token is negative
   */
  public List<String> chain(long[] tokens, int chunkTokens) {
    Tokens.require(tokens, chunkTokens);
    List<String> hashes = new ArrayList<>();
    long parent = root;
    for (int from = 0; from + chunkTokens <= tokens.length; from += chunkTokens) {
      CborWriter out = new CborWriter().array(3).unsigned(parent).array(chunkTokens);
      for (int i = from; i < from + chunkTokens; i++)
        out.number(tokens[i]);
      parent = first(out.array(0).toBytes());
      hashes.add(Long.toHexString(parent));
    }
    return hashes;
  }

  private static long first(byte[] input) {
    return ByteBuffer.wrap(Sha256.of(input)).getLong();
  }
}
