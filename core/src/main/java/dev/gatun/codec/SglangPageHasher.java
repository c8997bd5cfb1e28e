package dev.gatun.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The hashes that SGLang gives the pages of a prompt: SHA-256 of the page before and the tokens. The pairs of tokens of
 * EAGLE's draft models are not written here. Immutable, usable by any thread.
 */
public final class SglangPageHasher {
  private static final byte[] NAMESPACE = "sglang-cache-namespace-v1".getBytes(StandardCharsets.US_ASCII);
  private static final int WIDE = 0xFF;

  private final byte[] root;

  private SglangPageHasher(byte[] root) {
    this.root = root;
  }

  /** {@return the hashes of requests without {@code cache_salt} and {@code extra_key}} */
  public static SglangPageHasher plain() {
    return new SglangPageHasher(new byte[0]);
  }

  /**
   * {@return the hashes of requests in a namespace; read in SGLang's source, compared with no running engine}
   *
   * @param parts as the engine lists them, null for one that is not set
   */
  public static SglangPageHasher inNamespace(List<@Nullable String> parts) {
    MessageDigest sha = Sha256.fresh();
    sha.update(NAMESPACE);
    for (String part : parts) {
      if (part == null) {
        sha.update((byte) 0);
        continue;
      }
      byte[] utf8 = Text.utf8("namespace part", part);
      sha.update((byte) 1);
      sha.update(littleEndian(Long.BYTES).putLong(utf8.length).array());
      sha.update(utf8);
    }
    return new SglangPageHasher(sha.digest());
  }

  /**
   * {@return the hashes of the full pages of a prompt, in hex; tokens that do not fill a page have none}
   *
   * @param tokens of the prompt, each 0 or more
   * @param pageTokens tokens a page, 1 or more
   * @throws IllegalArgumentException if a token is negative
   */
  public List<String> chain(long[] tokens, int pageTokens) {
    Tokens.require(tokens, pageTokens);
    List<String> hashes = new ArrayList<>();
    byte[] prior = root;
    for (int from = 0; from + pageTokens <= tokens.length; from += pageTokens) {
      MessageDigest sha = Sha256.fresh();
      sha.update(prior);
      for (int i = from; i < from + pageTokens; i++)
        update(sha, tokens[i]);
      prior = sha.digest();
      hashes.add(Sha256.hex(prior));
    }
    return hashes;
  }

  private static void update(MessageDigest sha, long token) {
    if (token <= 0xFFFF_FFFFL) {
      sha.update(littleEndian(Integer.BYTES).putInt((int) token).array());
    } else {
      sha.update((byte) WIDE);
      sha.update(littleEndian(Long.BYTES).putLong(token).array());
    }
  }

  private static ByteBuffer littleEndian(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
