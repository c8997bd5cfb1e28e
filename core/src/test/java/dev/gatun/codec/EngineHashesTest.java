package dev.gatun.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Page hashes of SGLang and chunk hashes of LMCache; the vectors were computed from the rules, no engine ran. */
class EngineHashesTest {
  private static final long[] COUNT = LongStream.rangeClosed(1, 32).toArray();

  @Test
  @DisplayName("SGLang: pages of 16 tokens, 1 to 32")
  void sglangPages() {
    assertEquals(List.of("77d735ce838418aa151bd96b5b1e78ee63860892e0a95c00fe34178442be9b07",
        "1170426cf2449cebf4d17f087ce5bb43b6a910ce91b3f40922868e913e8ee91d"), SglangPageHasher.plain().chain(COUNT, 16));
  }

  @Test
  @DisplayName("SGLang: a namespace changes every page, an unset part is not an empty one, a wide token is no two")
  void sglangNamespaces() {
    String plain = SglangPageHasher.plain().chain(COUNT, 16).getFirst();
    String unset = SglangPageHasher.inNamespace(Arrays.asList("a", null)).chain(COUNT, 16).getFirst();
    String empty = SglangPageHasher.inNamespace(List.of("a", "")).chain(COUNT, 16).getFirst();
    assertNotEquals(plain, unset);
    assertNotEquals(unset, empty);
    assertNotEquals(SglangPageHasher.plain().chain(new long[]{1L << 32}, 1),
        SglangPageHasher.plain().chain(new long[]{0, 1}, 2));
  }

  @Test
  @DisplayName("LMCache: sha256_cbor with seed 0, 16 tokens from 1 on")
  void lmcacheChunks() {
    LmcacheChunkHasher hasher = new LmcacheChunkHasher("0");
    assertEquals("4e1195df020de59e", hasher.root());
    assertEquals("7c6d542762754d7e", hasher.chain(COUNT, 16).getFirst());
    assertEquals(2, hasher.chain(COUNT, 16).size());
  }
}
