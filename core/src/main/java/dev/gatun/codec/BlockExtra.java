package dev.gatun.codec;

/** What a block's hash depends on beside its tokens and the block before it. */
public sealed interface BlockExtra {

  /**
   * A LoRA adapter; in every block of the request.
   *
   * @param name its name
   * @param path where the engine loads it from; not in the hashes of 0.25
   */
  record Lora(String name, String path) implements BlockExtra {
    /** Refuses empty texts. */
    public Lora {
      Text.required("lora.name", name);
      Text.required("lora.path", path);
    }
  }

  /**
   * An image, a sound, or another input that is not tokens; in every block that it covers.
   *
   * @param hash as the engine identifies it
   * @param offset of its first token from the start of the block, negative if it began before
   */
  record Multimodal(String hash, long offset) implements BlockExtra {
    /** Refuses an empty hash. */
    public Multimodal {
      Text.required("mm.hash", hash);
    }
  }

  /**
   * The request's {@code cache_salt}; in its first block only, and through it in all.
   *
   * @param salt any text that is not empty
   */
  record CacheSalt(String salt) implements BlockExtra {
    /** Refuses an empty salt, which an engine treats as none. */
    public CacheSalt {
      Text.required("cache_salt", salt);
    }
  }

  /**
   * Embeddings in place of tokens, by what they hash to; in every block that they cover.
   *
   * @param digest as the engine makes it, in lower-case hex
   */
  record PromptEmbeddings(String digest) implements BlockExtra {
    /** Refuses what is no digest. */
    public PromptEmbeddings {
      Text.hash(digest);
    }
  }
}
