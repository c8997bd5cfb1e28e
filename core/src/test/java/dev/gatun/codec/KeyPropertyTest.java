package dev.gatun.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.WeightEpoch;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * Whatever can be written is read back the same, so that no two keys of a form are one; whatever is refused says which
 * part; whatever is read is written again exactly. Names are made of the very separators, so that they collide if they can.
 */
class KeyPropertyTest {
  /** Parts of keys as parts of names. */
  private static final List<String> PIECES = List.of("@", "_", "/", "-", ":", "%", "a", "b", "0", "1", "", "tp_rank:0",
      "@pcp0", "@cfg:0123456789ab", "@store_pp:1@store_format:tp_shared_mqa", "@half", "@1@0@ff@half", "page-group/2/",
      "@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@", "_0_k", "tp1_dcp1_page1_pp1_cp1", "@r0of1@", "@l1h1d1b1", " ", "é",
      "\n");
  private static final String HASH = "5a".repeat(32);

  @Property
  @Label("K10 vLLM: written keys are read back; the rest is refused by name")
  void vllm(@ForAll("names") String prefix, @ForAll("names") String model, @ForAll("layouts") String layout,
      @ForAll("configs") String config, @ForAll("numbers") int rank, @ForAll("numbers") int group) {
    check(() -> new VllmKey(prefix, model, layout, config, rank, group, rank, group, group, HASH), VllmKey::text,
        VllmKey::parse, "(?s)(cachePrefix|model|tpRank|pcp|dcp|ppRank|group|key) must .*");
  }

  @Property
  @Label("K10 SGLang: written keys are read back; the rest is refused by name")
  void sglang(@ForAll("names") String name, @ForAll("topologies") String topology, @ForAll("sglangRanks") String ranks,
      @ForAll("components") String component) {
    check(() -> new SglangKey(name, topology, HASH, ranks, component), SglangKey::text, SglangKey::parse,
        "(?s)name must .*");
  }

  @Property
  @Label("K10 LMCache: written keys are read back; the rest is refused by name")
  void lmcache(@ForAll("names") String model, @ForAll("numbers") int world, @ForAll("numbers") int worker,
      @ForAll("names") String tag, @ForAll("numbers") int layer, @ForAll boolean layered) {
    List<String> tags = tag.isEmpty() ? List.of() : List.of("t%" + tag, "u%");
    check(() -> new LmcacheKey(model, world, worker, "7c6d542762754d7e", "half",
        layered ? OptionalInt.of(layer) : OptionalInt.empty(), tags), LmcacheKey::text, LmcacheKey::parse,
        "(?s)(model|world|worker|layer|tag|key) must .*");
    check(() -> new LmcacheSharedKey(model, world, layer, HASH, tag), LmcacheSharedKey::text, LmcacheSharedKey::parse,
        "(?s)(model|objectGroup|salt|key) must .*");
  }

  @Property
  @Label("K10 Gatun: written keys are read back, page names in them too; the rest is refused by name")
  void gatun(@ForAll("names") String model, @ForAll("words") String word, @ForAll("numbers") int number,
      @ForAll boolean epoch) {
    check(() -> new PageName(model, word, new PageGeometry(28, 1, Math.max(1, number), 16), "half", number, 5, HASH),
        PageName::text, PageName::parse, "(?s)(model|revision|rank|key) must .*");
    check(
        () -> new GatunKey("ns", epoch ? Optional.of(new WeightEpoch("run", number)) : Optional.empty(), number, model),
        GatunKey::text, GatunKey::parse, "(?s)(version|groupBlocks|logical|key) must .*");
  }

  @Property
  @Label("K10 any text is read as a key that is written exactly so, or as none; a label is always found")
  void anyText(@ForAll("names") String left, @ForAll("names") String right) {
    for (String text : List.of(left, left + right, left + "@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" + HASH,
        left + '_' + HASH + '_' + right, left + "@1@0@ff@half" + right, "ns/run/1/" + left, "ns//" + left)) {
      VllmKey.parse(text).ifPresent(key -> assertEquals(text, key.text()));
      SglangKey.parse(text).ifPresent(key -> assertEquals(text, key.text()));
      LmcacheKey.parse(text).ifPresent(key -> assertEquals(text, key.text()));
      LmcacheSharedKey.parse(text).ifPresent(key -> assertEquals(text, key.text()));
      PageName.parse(text).ifPresent(key -> assertEquals(text, key.text()));
      GatunKey.parse(text).ifPresent(key -> assertEquals(text, key.text()));
      assertTrue(!KeyLabel.of(text).owner().isEmpty());
    }
  }

  private static <T> void check(Supplier<T> key, Function<T, String> write, Function<String, Optional<T>> read,
      String refusal) {
    T made;
    try {
      made = key.get();
    } catch (IllegalArgumentException e) {
      assertTrue(String.valueOf(e.getMessage()).matches(refusal), e.getMessage());
      return;
    }
    assertEquals(Optional.of(made), read.apply(write.apply(made)));
  }

  @Provide
  Arbitrary<String> names() {
    Arbitrary<String> pieces = Arbitraries.of(PIECES).list().ofMaxSize(5).map(list -> String.join("", list));
    return Arbitraries.frequencyOf(Tuple.of(20, pieces),
        Tuple.of(1, Arbitraries.strings().ascii().ofMaxLength(1100)));
  }

  @Provide
  Arbitrary<String> words() {
    return Arbitraries.of("main", "v1.0-rc", "9c925d64", "", "a@b", "a/b");
  }

  @Provide
  Arbitrary<Integer> numbers() {
    return Arbitraries.of(-1, 0, 1, 2, 4, 7, 100_000, Integer.MAX_VALUE);
  }

  @Provide
  Arbitrary<String> layouts() {
    return Arbitraries.of("", "@store_tp:2@store_pp:1@store_format:tp_shared_lbhnc",
        "@store_pp:1@store_format:tp_shared_mqa", "@store_pp:1@store_format:rank_local_tp8_layout_LBHNC");
  }

  @Provide
  Arbitrary<String> configs() {
    return Arbitraries.of("", "0123456789ab");
  }

  @Provide
  Arbitrary<String> topologies() {
    return Arbitraries.of("", "tp4_dcp2_page64_pp1_cp1");
  }

  @Provide
  Arbitrary<String> sglangRanks() {
    return Arbitraries.of("", "0", "3_1", "dcp1_cp0", "dcp1_cp0_2");
  }

  @Provide
  Arbitrary<String> components() {
    return Combinators.combine(Arbitraries.of("k", "v", "swa_k", "temporal", "indexer"), numbers())
        .as((plain, number) -> number < 0 ? plain : "conv_" + number);
  }
}
