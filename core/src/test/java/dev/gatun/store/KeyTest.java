package dev.gatun.store;

import static dev.gatun.store.ContractBench.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.WeightEpoch;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Keys, their codecs, and the patterns made of them. */
class KeyTest {
  private static final WeightEpoch EPOCH = new WeightEpoch("run-7", 12);

  private static String prefix(KeyCodec codec) {
    return new String(codec.prefix(EPOCH), StandardCharsets.US_ASCII);
  }

  @Test
  @DisplayName("a key is 1 to 1024 bytes without NUL; anything else is refused with what is allowed")
  void limits() {
    assertEquals(1024, KvKey.of("k".repeat(1024)).length());
    assertEquals(2, KvKey.of("ä").length());
    assertSays("1 to 1024 bytes: 0", assertThrows(IllegalArgumentException.class, () -> KvKey.of("")));
    assertSays("1 to 1024 bytes: 1025",
        assertThrows(IllegalArgumentException.class, () -> KvKey.of("k".repeat(1025))));
    assertSays("1 to 1024 bytes: 1026",
        assertThrows(IllegalArgumentException.class, () -> KvKey.of("ä".repeat(513))));
    assertSays("NUL: found at byte 1", assertThrows(IllegalArgumentException.class, () -> KvKey.of("a\0b")));
    assertSays("surrogates", assertThrows(IllegalArgumentException.class, () -> KvKey.of("a\uD800")));
    assertSays("NUL: found at byte 0", assertThrows(IllegalArgumentException.class, () -> KvKey.of(new byte[]{0})));
  }

  @Test
  @DisplayName("keys are equal when their bytes are, and do not change with the caller's array")
  void equality() {
    byte[] bytes = "abc".getBytes(StandardCharsets.UTF_8);
    KvKey key = KvKey.of(bytes);
    assertEquals(KvKey.of("abc"), key);
    assertEquals(KvKey.of("abc").hashCode(), key.hashCode());
    bytes[0] = 'x';
    assertArrayEquals("abc".getBytes(StandardCharsets.UTF_8), key.toBytes());
    key.toBytes()[0] = 'x';
    assertEquals("abc", key.toString());
    assertNotEquals(KvKey.of("abd"), key);
    assertEquals("a\\x01\\xff", KvKey.of(new byte[]{'a', 1, -1}).toString());
  }

  @Test
  @DisplayName("K10.01 hashes are the same in every process and version: they stand in stamps")
  void stableHash() {
    assertEquals(-9033471704281723301L, KvKey.of("a").hash());
    assertEquals(4306492426244407871L, KvKey.of("run-7/12/block").hash());
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 100_000; i++)
      assertTrue(seen.add(KvKey.of("key-" + i).hash()), "collision at " + i);
  }

  @Test
  @DisplayName("K10.03 namespace, run and version each change every key; no form of key is one of the other")
  void prefixes() {
    assertEquals("ns/run-7/12/", prefix(KeyCodec.epoch("ns")));
    assertEquals("ns//", prefix(KeyCodec.plain("ns")));
    assertEquals("", prefix(KeyCodec.verbatim()));
    for (KeyCodec codec : List.of(KeyCodec.epoch("ns"), KeyCodec.plain("n"), KeyCodec.verbatim())) {
      WeightEpoch longest = new WeightEpoch("r".repeat(64), Long.MAX_VALUE);
      assertTrue(codec.prefix(longest).length <= codec.prefixBytesMax());
    }
    assertEquals(KeyCodec.epoch("n".repeat(64)).prefix(new WeightEpoch("r".repeat(64), Long.MAX_VALUE)).length,
        KeyCodec.epoch("n".repeat(64)).prefixBytesMax());
    for (String bad : List.of("", "a/b", "a b", "ä", "n".repeat(65), "a\0")) {
      assertSays("namespace must be", assertThrows(IllegalArgumentException.class, () -> KeyCodec.epoch(bad)));
      assertSays("namespace must be", assertThrows(IllegalArgumentException.class, () -> KeyCodec.plain(bad).withVerify(
          Verify.STAMP)));
    }
    assertThrows(IllegalArgumentException.class, () -> KeyCodec.verbatim().withVerify(Verify.FULL));
  }

  @Test
  @DisplayName("a literal prefix finds what begins with it and nothing else, whatever characters it holds")
  void literalPrefix() {
    String alphabet = "a\\^$.*+?()[]{}|/-,:<=>!#&~ \t\nä";
    for (int i = 0; i < alphabet.length(); i++) {
      for (int k = 0; k < alphabet.length(); k++) {
        String literal = "" + alphabet.charAt(i) + alphabet.charAt(k);
        Pattern pattern = compiled(KeyPattern.prefix("ns//".getBytes(StandardCharsets.US_ASCII), literal));
        assertTrue(pattern.matcher(latin("ns//" + literal + "tail")).find(), literal);
        assertTrue(!pattern.matcher(latin("ns//" + literal.charAt(0) + "tail")).find(), literal);
        assertTrue(!pattern.matcher(latin("x" + "ns//" + literal)).find(), literal);
      }
    }
  }

  private static Pattern compiled(byte[] pattern) {
    return Pattern.compile(new String(pattern, StandardCharsets.ISO_8859_1));
  }

  private static String latin(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  @Test
  @DisplayName("a pattern stays behind its prefix")
  void restrictedPattern() {
    Pattern pattern = compiled(KeyPattern.restricted("ns//".getBytes(StandardCharsets.US_ASCII), "a|b[)(]|c\\)"));
    for (String found : List.of("ns//a", "ns//b)", "ns//b(x", "ns//c)"))
      assertTrue(pattern.matcher(found).find(), found);
    for (String other : List.of("a", "b)", "ns/b(", "ns//b", "xns//a")) {
      assertTrue(!pattern.matcher(other).find(), other);
    }
  }
}
