package dev.gatun.nativelib;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256, which every Java platform must provide. */
final class Hash {
  private Hash() {}

  static MessageDigest newSha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform provides SHA-256", e);
    }
  }

  static byte[] sha256(byte[] content) {
    return newSha256().digest(content);
  }

  static String sha256Hex(Path file) throws IOException {
    MessageDigest digest = newSha256();
    byte[] chunk = new byte[64 * 1024];
    try (InputStream in = Files.newInputStream(file)) {
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk))
        digest.update(chunk, 0, n);
    }
    return hex(digest.digest());
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
