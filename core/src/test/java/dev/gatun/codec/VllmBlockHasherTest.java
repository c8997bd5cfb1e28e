package dev.gatun.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Block hashes that a real engine made, and those of its hash functions; see the file of vectors for their sources. */
class VllmBlockHasherTest {
  /** A line of the file. */
  record Vector(String source, VllmRelease release, BlockHash hash, String seed, int blockTokens, String tokens,
      List<BlockExtra> extras, String root, List<String> hashes) {
    @Override
    public String toString() {
      return source + ", vLLM " + release.version() + ", " + hash.word() + ", seed " + seed + ", " + blockTokens
          + " tokens a block, " + extras;
    }
  }

  static Stream<Vector> vectors() throws IOException {
    return Vectors.lines("vllm-block-hashes.tsv").flatMap(cells -> Arrays.stream(VllmRelease.values())
        .filter(release -> List.of(cells.get(1).split(",", -1)).contains(release.version()))
        .map(release -> new Vector(cells.get(0), release, BlockHash.of(cells.get(2)), cells.get(3),
            Integer.parseInt(cells.get(4)),
            cells.get(5),
            cells.get(6).equals("-") ? List.of() : List.of(new BlockExtra.CacheSalt(cells.get(6))),
            cells.get(7), List.of(cells.get(8).split(",", -1)))));
  }

  @ParameterizedTest
  @MethodSource("vectors")
  @DisplayName("every vector comes out exactly")
  void reproduces(Vector vector) {
    VllmBlockHasher hasher = new VllmBlockHasher(vector.hash, vector.release, vector.seed);
    assertEquals(vector.root, hasher.root());
    assertEquals(vector.hashes, hasher.chain(Vectors.tokens(vector.tokens), vector.blockTokens, vector.extras));
  }

  @Test
  @DisplayName("the pickle form of the seed and of three blocks is the one that Python wrote")
  void pickleForms() {
    PickleInput form = new PickleInput(true);
    HexFormat hex = HexFormat.of();
    byte[] root = hex.parseHex("1973e23848344dc43a988a9b478663803cfffe1243480253f9a3cf004b14aa7c");
    byte[] first = hex.parseHex("81663bd4288b984e0a1cc105c0804327993efe3279283a1e48c6f46ef58bc531");
    long[] prompt = Vectors.tokens("100*7");
    assertEquals("80059505000000000000008c0130942e", hex.formatHex(form.seed("0")));
    assertEquals(
        "8005956a0000000000000043201973e23848344dc43a988a9b478663803cfffe1243480253f9a3cf004b14aa7c94284b094b10"
            + "4b174b1e4b254b2c4b334b3a4b414b484b4f4b564b5d4b644b6b4b724b794b804b874b8e4b954b9c4ba34baa4bb14bb84bbf4bc64bcd4b"
            + "d44bdb4be274944e87942e",
        hex.formatHex(form.block(root, prompt, 0, 32, List.of())));
    assertEquals(
        "8005956a00000000000000432081663bd4288b984e0a1cc105c0804327993efe3279283a1e48c6f46ef58bc53194284be94bf0"
            + "4bf74b044b0b4b124b194b204b274b2e4b354b3c4b434b4a4b514b584b5f4b664b6d4b744b7b4b824b894b904b974b9e4ba54bac4bb34b"
            + "ba4bc14bc874944e87942e",
        hex.formatHex(form.block(first, prompt, 32, 64, List.of())));
    assertEquals(
        "800595850000000000000043201973e23848344dc43a988a9b478663803cfffe1243480253f9a3cf004b14aa7c94284b094b10"
            + "4b174b1e4b254b2c4b334b3a4b414b484b4f4b564b5d4b644b6b4b724b794b804b874b8e4b954b9c4ba34baa4bb14bb84bbf4bc64bcd4b"
            + "d44bdb4be274948c0a63616368655f73616c74948c0874656e616e742d61948694859487942e",
        hex.formatHex(form.block(root, prompt, 0, 32, List.of(new BlockExtra.CacheSalt("tenant-a")))));
  }

  @Test
  @DisplayName("K2 extras in any order give one hash; each kind and each value another; a salt reaches later blocks")
  void extras() {
    VllmBlockHasher hasher = new VllmBlockHasher(BlockHash.SHA256_CBOR, VllmRelease.V0_33, "0");
    long[] tokens = LongStream.rangeClosed(1, 32).toArray();
    BlockExtra lora = new BlockExtra.Lora("adapter", "/adapters/a");
    BlockExtra salt = new BlockExtra.CacheSalt("s");
    BlockExtra image = new BlockExtra.Multimodal("ab12", -3);
    BlockExtra embeddings = new BlockExtra.PromptEmbeddings("00".repeat(32));
    List<String> plain = hasher.chain(tokens, 16, List.of());
    List<String> salted = hasher.chain(tokens, 16, List.of(salt));
    assertNotEquals(plain.get(1), salted.get(1));
    assertEquals(hasher.chain(tokens, 16, List.of(salt, lora)), hasher.chain(tokens, 16, List.of(lora, salt)));
    Stream<List<BlockExtra>> kinds = Stream.of(List.of(), List.of(lora), List.of(salt), List.of(image),
        List.of(embeddings), List.of(new BlockExtra.Multimodal("ab12", 3)), List.of(lora, image, salt, embeddings));
    assertEquals(7, kinds.map(extras -> hasher.chain(tokens, 16, block -> extras)).distinct().count());
  }

  @Test
  @DisplayName("what has no form, or lies in some blocks only, is refused by name; no block, no hash")
  void refusals() {
    VllmBlockHasher pickled = new VllmBlockHasher(BlockHash.SHA256, VllmRelease.V0_33, "0");
    long[] tokens = LongStream.rangeClosed(1, 16).toArray();
    refused("sha256_cbor", () -> pickled.chain(tokens, 16, List.of(new BlockExtra.Lora("a", "b"))));
    refused("in which blocks", () -> pickled.chain(tokens, 16, List.of(new BlockExtra.Multimodal("a", 0))));
    refused("token 1 must be 0 or more: -1", () -> pickled.chain(new long[]{0, -1}, 1, List.of()));
    refused("tokens a block must be 1 or more: 0", () -> pickled.chain(tokens, 0, List.of()));
    refused("must have fewer tokens", () -> pickled.chain(new long[40_000], 40_000, List.of()));
    refused("seed must not be empty", () -> new VllmBlockHasher(BlockHash.SHA256, VllmRelease.V0_25, ""));
    refused("unpaired surrogates", () -> pickled.chain(tokens, 16, List.of(new BlockExtra.CacheSalt("\uD800"))));
    refused("cache_salt must not be empty", () -> new BlockExtra.CacheSalt(""));
    refused("xxhash", () -> BlockHash.of("xxhash"));
    assertEquals(List.of(), pickled.chain(tokens, 17, List.of()));
    assertEquals(Optional.empty(), VllmRelease.V0_25.seedIfUnset());
    assertEquals(Optional.of("vllm-none-hash"), VllmRelease.V0_32.seedIfUnset());
  }

  private static void refused(String says, Runnable call) {
    String message = String.valueOf(assertThrows(IllegalArgumentException.class, call::run).getMessage());
    assertTrue(message.contains(says), message);
  }
}
