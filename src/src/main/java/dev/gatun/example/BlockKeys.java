package dev.gatun.example;

import dev.gatun.codec.BlockHash;
import dev.gatun.codec.PageGeometry;
import dev.gatun.codec.PageName;
import dev.gatun.codec.VllmBlockHasher;
import dev.gatun.codec.VllmRelease;
import dev.gatun.store.KvKey;
import java.util.List;

/** Keys of the full blocks of a sequence: each names the page's shape, and all tokens up to its end. */
final class BlockKeys {
  private static final VllmBlockHasher HASHER = new VllmBlockHasher(BlockHash.SHA256_CBOR, VllmRelease.V0_33, "toy");

  private BlockKeys() {}

  /**
   * {@return a key for each full block}
   *
   * @param tokens of the sequence, from its beginning
   * @param pageBytes bytes of a page
   */
  static List<KvKey> of(List<Integer> tokens, long pageBytes) {
    // one layer with one head, whose elements are bytes
    PageGeometry geometry = new PageGeometry(1, 1, Math.toIntExact(Math.ceilDiv(pageBytes, ToyModel.BLOCK_TOKENS)),
        ToyModel.BLOCK_TOKENS);
    return HASHER.chain(tokens.stream().mapToLong(Integer::longValue).toArray(), ToyModel.BLOCK_TOKENS, List.of())
        .stream().map(hash -> KvKey.of(new PageName("toy", "1", geometry, "uint8", 0, 1, hash).text())).toList();
  }
}
