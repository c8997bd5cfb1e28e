package dev.gatun.codec;

import java.util.ArrayList;
import java.util.List;

/**
 * The hashes that vLLM gives the blocks of a prompt. Each covers its block, everything before it, and the extras, so equal
 * hashes mean equal prefixes. Immutable, usable by any thread.
 */
public final class VllmBlockHasher {
  private final HashInput input;
  private final byte[] root;

  /**
   * Makes the hashes of engines started alike.
   *
   * @param hash {@code --prefix-caching-hash-algo} of the engines
   * @param release of the engines
   * @param seed their PYTHONHASHSEED, or {@link VllmRelease#seedIfUnset()}
   */
  public VllmBlockHasher(BlockHash hash, VllmRelease release, String seed) {
    input = switch (hash) {
      case SHA256 -> new PickleInput(release.taggedExtras());
      case SHA256_CBOR -> new CborInput(release.taggedExtras());
    };
    root = Sha256.of(input.seed(Text.required("seed", seed)));
  }

  /** {@return what stands for the block before the first, vLLM's NONE_HASH, in hex} */
  public String root() {
    return Sha256.hex(root);
  }

  /**
   * {@return the hashes of the full blocks of a prompt, in hex; tokens that do not fill a block have none}
   *
   * @param tokens of the prompt, each 0 or more
   * @param blockTokens tokens a block, 1 or more
   * @param extras of the whole prompt: a cache salt goes into the first block, a LoRA into each; other inputs lie in some
   *     blocks only, see {@link #chain(long[], int, ExtrasOfBlock)}
   * @throws IllegalArgumentException if a token is negative, or the hash has no form for the extras
   */
  public List<String> chain(long[] tokens, int blockTokens, List<BlockExtra> extras) {
    if (extras.stream().anyMatch(extra -> rank(extra) == 1 || rank(extra) == 3)) {
      throw new IllegalArgumentException("extras must say in which blocks they lie: " + extras);
    }
    List<BlockExtra> later = extras.stream().filter(BlockExtra.Lora.class::isInstance).toList();
    return chain(tokens, blockTokens, block -> block == 0 ? extras : later);
  }

  /** What each block's hash depends on beside its tokens. */
  @FunctionalInterface
  public interface ExtrasOfBlock {
    /**
     * {@return the extras, in any order}
     *
     * @param block its place, from 0 on
     */
    List<BlockExtra> of(int block);
  }

  /**
   * {@return the hashes of the full blocks of a prompt, in hex}
   *
   * @param tokens of the prompt, each 0 or more
   * @param blockTokens tokens a block, 1 or more
   * @param extras what each block depends on
   * @throws IllegalArgumentException if a token is negative, or the hash has no form for the extras
   */
  public List<String> chain(long[] tokens, int blockTokens, ExtrasOfBlock extras) {
    Tokens.require(tokens, blockTokens);
    List<String> hashes = new ArrayList<>();
    byte[] parent = root;
    for (int block = 0; block < tokens.length / blockTokens; block++) {
      int from = block * blockTokens;
      parent = Sha256.of(input.block(parent, tokens, from, from + blockTokens, ordered(extras.of(block))));
      hashes.add(Sha256.hex(parent));
    }
    return hashes;
  }

  /** LoRA, other inputs, salt, embeddings: the order of all releases. */
  private static List<BlockExtra> ordered(List<BlockExtra> extras) {
    return extras.stream().sorted((one, other) -> Integer.compare(rank(one), rank(other))).toList();
  }

  private static int rank(BlockExtra extra) {
    return switch (extra) {
      case BlockExtra.Lora lora -> 0;
      case BlockExtra.Multimodal input -> 1;
      case BlockExtra.CacheSalt salt -> 2;
      case BlockExtra.PromptEmbeddings embeddings -> 3;
    };
  }
}
