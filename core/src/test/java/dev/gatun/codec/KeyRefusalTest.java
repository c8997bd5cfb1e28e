package dev.gatun.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What makes a bad key is refused by field, with the value and what is allowed. */
class KeyRefusalTest {
  private static final String HASH = "5a".repeat(32);

  @Test
  @DisplayName("K10 vLLM: empty models, negative ranks, separators that make two keys one, long and foreign text")
  void vllm() {
    VllmKey key = VllmKey.of("m", HASH);
    refused("model must not be empty", () -> VllmKey.of("", HASH));
    refused("tpRank must be 0 or more: -1", () -> key.withRanks(-1, 0, 0, 0));
    refused("group must be 0 or more: -2", () -> key.withGroup(-2));
    refused("cachePrefix must not contain @, which ends it: \"a@b\"", () -> key.withCachePrefix("a@b"));
    refused("\"a@b\" would be read as model \"b\" behind cache prefix \"a\"", () -> VllmKey.of("a@b", HASH));
    refused("model must not be such", () -> VllmKey.of("a@cfg:0123456789ab", HASH));
    refused("last part of the model's path: \"org/m\"", () -> VllmKey.of("org/m", HASH));
    refused("model must be printable ASCII: character 1 is U+00E9", () -> VllmKey.of("mé", HASH));
    refused("key must be at most 1024 bytes", () -> VllmKey.of("m".repeat(1000), HASH));
    refused("hash must be 8 to 64 bytes in lower-case hex: \"XY\"", () -> VllmKey.of("m", "XY"));
    assertEquals("p@a@b@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" + HASH,
        new VllmKey("p", "a@b", "", "", 0, 0, 0, 0, 0, HASH).text());
  }

  @Test
  @DisplayName("vLLM 0.25 knows no layouts, and no release up to 0.33 a digest of settings")
  void vllmReleases() {
    VllmKey laidOut = new VllmKey("", "m", "@store_pp:1@store_format:tp_shared_mqa", "", 0, 0, 0, 0, 0, HASH);
    refused("layout must be empty for vLLM 0.25", () -> laidOut.text(VllmRelease.V0_25));
    assertEquals(laidOut.text(), laidOut.text(VllmRelease.V0_33));
    VllmKey later = new VllmKey("", "m", "", "0123456789ab", 0, 0, 0, 0, 0, HASH);
    refused("config must be empty for vLLM 0.33", () -> later.text(VllmRelease.V0_33));
    refused("config must be 12", () -> new VllmKey("", "m", "", "0", 0, 0, 0, 0, 0, HASH));
    refused("layout must be as vLLM", () -> new VllmKey("", "m", "@x", "", 0, 0, 0, 0, 0, HASH));
  }

  @Test
  @DisplayName("K10 SGLang and LMCache: each part in its range")
  void engines() {
    refused("name must not be empty", () -> new SglangKey("", "", HASH, "0", "k"));
    refused("name must have - where the model has /", () -> new SglangKey("a/b", "", HASH, "0", "k"));
    assertEquals("tag_a-b", SglangKey.name("tag", "a/b"));
    refused("ranks must be like", () -> new SglangKey("m", "", HASH, "-1", "k"));
    refused("component must be like", () -> new SglangKey("m", "", HASH, "0", "x"));
    refused("topology must be like", () -> new SglangKey("m", "tp1", HASH, "0", "k"));
    refused("hash must be 64", () -> new SglangKey("m", "", "00", "0", "k"));
    refused("name must not be such", () -> new SglangKey("m_tp4_dcp2_page64_pp1_cp1", "", HASH, "0", "k"));
    refused("world must be 1 to 1000000: 0", () -> LmcacheKey.of("m", 0, 0, "ff", "half"));
    refused("worker must be 0 to 1: 2", () -> LmcacheKey.of("m", 2, 2, "ff", "half"));
    refused("hash must be 1 to 16 hex digits without leading zeros", () -> LmcacheKey.of("m", 1, 0, "0f", "half"));
    refused("dtype must be like", () -> LmcacheKey.of("m", 1, 0, "ff", "8bit"));
    refused("tag must be name%value", () -> new LmcacheKey("m", 1, 0, "ff", "half", OptionalInt.empty(), List.of("t")));
    refused("model must not contain @", () -> new LmcacheSharedKey("a@b", 0, 0, HASH, ""));
    refused("salt must be at most 128", () -> new LmcacheSharedKey("m", 0, 0, HASH, "a/b"));
  }

  @Test
  @DisplayName("K10 Gatun: each part in its range; a group's beginning is no model")
  void gatun() {
    PageGeometry geometry = new PageGeometry(28, 4, 128, 16);
    refused("model must not be empty", () -> new PageName("", "main", geometry, "half", 0, 1, HASH));
    refused("revision must be 1 to 64", () -> new PageName("m", "a@b", geometry, "half", 0, 1, HASH));
    refused("dtype must be 1 to 32", () -> new PageName("m", "main", geometry, "Half", 0, 1, HASH));
    refused("rank must be 0 to 3: -1", () -> new PageName("m", "main", geometry, "half", -1, 4, HASH));
    refused("rank must be 0 to 3: 4", () -> new PageName("m", "main", geometry, "half", 4, 4, HASH));
    refused("ranks must be 1 or more: 0", () -> new PageName("m", "main", geometry, "half", 0, 0, HASH));
    refused("model must not begin with page-group/", () -> new PageName("page-group/2/m", "main", geometry, "half", 0,
        1, HASH));
    refused("kvHeads must be 1 or more: 0", () -> new PageGeometry(1, 0, 1, 1));
    refused("key must be at most 1024", () -> new PageName("m".repeat(1000), "main", geometry, "half", 0, 1, HASH));
  }

  private static void refused(String says, Runnable call) {
    String message = String.valueOf(assertThrows(IllegalArgumentException.class, call::run).getMessage());
    assertTrue(message.contains(says), message);
  }
}
