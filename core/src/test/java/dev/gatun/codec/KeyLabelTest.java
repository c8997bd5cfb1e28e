package dev.gatun.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys that a store held beside real clients, and those that the rules of each engine give. */
class KeyLabelTest {

  static Stream<List<String>> keys() throws IOException {
    return Vectors.lines("keys.tsv");
  }

  @ParameterizedTest
  @MethodSource("keys")
  @DisplayName("K10 each key is told by its form, says model, rank and epoch, and is written again exactly")
  void tells(List<String> cells) {
    String key = cells.get(1);
    assertEquals(new KeyLabel(cells.get(2), cells.get(3), cells.get(4), cells.get(5), cells.get(6)), KeyLabel.of(key),
        key);
    Optional<String> again = switch (cells.get(2)) {
      case "vllm" -> VllmKey.parse(key).map(VllmKey::text);
      case "sglang" -> SglangKey.parse(key).map(SglangKey::text).or(() -> Optional.of(key)
          .filter(SglangKey::isWarmUp));
      case "lmcache" -> LmcacheKey.parse(key).map(LmcacheKey::text);
      case "lmcache-mp" -> LmcacheSharedKey.parse(key).map(LmcacheSharedKey::text);
      case "gatun" -> GatunKey.parse(key).map(GatunKey::text);
      default -> Optional.of(key);
    };
    assertEquals(Optional.of(key), again);
  }

  @Test
  @DisplayName("one deployment is one owner whatever its ranks and epochs; another model, prefix or namespace is another")
  void owners() {
    String tail = "@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" + "ab".repeat(32);
    assertEquals(owner("ns/run/1/x"), owner("ns/other/2/y"));
    assertEquals(owner("m" + tail), owner("m" + tail.replace("rank:0", "rank:1")));
    assertEquals("gatun ns", owner("ns//x"));
    assertNotEquals(owner("ns/run/1/x"), owner("sn/run/1/x"));
    assertNotEquals(owner("m" + tail), owner("n" + tail));
    assertNotEquals(owner("m" + tail), owner("p@m" + tail));
    assertEquals("keys of unknown form", owner("x"));
  }

  private static String owner(String key) {
    return KeyLabel.of(key).owner();
  }
}
