package dev.gatun.example;

import dev.gatun.store.KvKey;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Keys of the full blocks of a sequence: each is the SHA-256 of the key before it and of its own tokens. */
final class BlockKeys {
  private BlockKeys() {}

  /**
   * {@return a key for each full block}
   *
   * @param tokens of the sequence, from its beginning
   */
  static List<KvKey> of(List<Integer> tokens) {
    List<KvKey> keys = new ArrayList<>();
    byte[] parent = new byte[0];
    for (int at = 0; at + ToyModel.BLOCK_TOKENS <= tokens.size(); at += ToyModel.BLOCK_TOKENS) {
      MessageDigest digest = sha256();
      digest.update(parent);
      for (int token : tokens.subList(at, at + ToyModel.BLOCK_TOKENS))
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, token));
      parent = digest.digest();
      keys.add(KvKey.of("toy/" + HexFormat.of().formatHex(parent)));
    }
    return keys;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
