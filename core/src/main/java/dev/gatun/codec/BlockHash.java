package dev.gatun.codec;

/** How vLLM hashes a block, as {@code --prefix-caching-hash-algo} names it. */
public enum BlockHash {
  /** vLLM's default: SHA-256 of the pickle form, protocol 5. */
  SHA256("sha256"),
  /** SHA-256 of the canonical CBOR form, which other languages can be expected to have. */
  SHA256_CBOR("sha256_cbor");

  private final String word;

  BlockHash(String word) {
    this.word = word;
  }

  /** {@return the word that vLLM's command line uses} */
  public String word() {
    return word;
  }

  /**
   * {@return the constant for vLLM's word}
   *
   * @param word {@code sha256} or {@code sha256_cbor}; the xxhash kinds are not written by Gatun
   * @throws IllegalArgumentException for another word
   */
  public static BlockHash of(String word) {
    for (BlockHash value : values()) {
      if (value.word.equals(word)) return value;
    }
    throw new IllegalArgumentException("hash must be sha256 or sha256_cbor: \"" + word + '"');
  }
}
