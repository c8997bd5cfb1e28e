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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @CsvSource(delimiter = '~', quoteCharacter = '`', value = {"*~0, nothing to repeat stands before it",
      "a|+~2, nothing to repeat", "(?:a)~1, groups that begin with (?", "(*a)~1, nothing to repeat",
      "(a)*~3, a group must not be repeated", "(a){2}~3, a group must not be repeated",
      "a**~2, it repeats a repetition",
      "a+{2}~2, it repeats", "a*?*~3, it repeats", "a)~1, a ) must close a group", "(a~2, a ( is not closed",
      "[a~2, a [ is not closed", "[]~1, it must be written with a \\ before it", "a]~1, it must be written",
      "a}~1, it must be written", "a{~2, a { must be {n}", "a{x}~2, a { must be {n}", "a{1~3, a { must be",
      "a{2,1}~6, of {n,m}", "a{5000}~6, all repetitions together must be at most 4096",
      "a{4000}b{97}~12, all repetitions together", "[b-a]~4, a range must go", "[\\d-z]~5, a range must go",
      "[a-c-e]~4, a - must be the first or the last", "[[:alpha:]]~1, it must be written", "a\\~2, a \\ must have",
      "(a)\\1~4, after a \\ stands", "\\b~1, after a \\ stands", "\\x41~1, after a \\ stands",
      "a\\é~2, after a \\ stands", "ä~0, only printable ASCII", "[ä]~1, only printable ASCII",
      "^*~1, nothing to repeat"})
  @DisplayName("a pattern that a master would refuse, or die of, is refused by place and rule before anything is sent")
  void refusedPatterns(String pattern, String rule) {
    assertSays("pattern is refused at character " + rule,
        assertThrows(IllegalArgumentException.class, () -> KeyPattern.restricted(new byte[0], pattern)));
  }

  @Test
  @DisplayName("hostile patterns of the longest length are refused too, and none takes long")
  void longestPatterns() {
    for (String part : List.of("*", "(", ")", "[", "\\b", "{", "a{9", "(a", "[a-", "|*")) {
      String pattern = part.repeat(KvKey.BYTES_MAX / part.length());
      assertSays("pattern is refused at character",
          assertThrows(IllegalArgumentException.class, () -> KeyPattern.restricted(new byte[0], pattern), part));
    }
    for (String part : List.of("a", ".", "|", "a*", "[a]", "\\*", "()"))
      KeyPattern.restricted(new byte[0], part.repeat(KvKey.BYTES_MAX / part.length()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "a.b?c+d*", "a{2}b{2,}c{2,3}?", "[a-c]|[^x-z.]|[-a]|[a-]", "(a|b)(c|(d))", "^a$",
      "a\\.b\\\\",
      "\\d+\\s\\W", "()", "a||b", "[\\]\\-]"})
  @DisplayName("what is allowed means the same to Java's matcher, which knows all of it")
  void allowedPatterns(String pattern) {
    compiled(KeyPattern.restricted(new byte[0], pattern));
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
