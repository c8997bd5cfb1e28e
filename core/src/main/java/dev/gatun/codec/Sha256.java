package dev.gatun.codec;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 and its text. */
final class Sha256 {
  static final int BYTES = 32;

  private Sha256() {}

  static MessageDigest fresh() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  static byte[] of(byte[] bytes) {
    return fresh().digest(bytes);
  }

  static String hex(byte[] digest) {
    return HexFormat.of().formatHex(digest);
  }
}
