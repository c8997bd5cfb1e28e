package dev.gatun.cli.replay;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * KV geometries of well-known models, from their published configurations: what one token leaves in the cache, with
 * two-byte elements.
 */
public enum KvGeometry {
  /** 28 layers, 4 KV heads of 128. */
  QWEN2_5_7B("qwen2.5-7b", 28L * 2 * 4 * 128 * 2),
  /** 61 layers of one latent vector, 512 + 64 (MLA). */
  DEEPSEEK_V3("deepseek-v3", 61L * (512 + 64) * 2),
  /** 36 layers, 8 KV heads of 64. */
  GPT_OSS_120B("gpt-oss-120b", 36L * 2 * 8 * 64 * 2),
  /** 32 layers, 8 KV heads of 128. */
  LLAMA_3_1_8B("llama-3.1-8b", 32L * 2 * 8 * 128 * 2),
  /** 64 layers, 8 KV heads of 128. */
  QWEN3_32B("qwen3-32b", 64L * 2 * 8 * 128 * 2),
  /** 80 layers, 8 KV heads of 128. */
  LLAMA_3_3_70B("llama-3.3-70b", 80L * 2 * 8 * 128 * 2);

  private final String label;
  private final long tokenBytes;

  KvGeometry(String label, long tokenBytes) {
    this.label = label;
    this.tokenBytes = tokenBytes;
  }

  /** {@return the name to give on the command line} */
  public String label() {
    return label;
  }

  /**
   * {@return bytes of one block, all layers together}
   *
   * @param tokens tokens a block
   */
  public long pageBytes(int tokens) {
    return tokenBytes * tokens;
  }

  /** {@return all names} */
  public static List<String> labels() {
    return Arrays.stream(values()).map(KvGeometry::label).toList();
  }

  /**
   * {@return the geometry of that name}
   *
   * @param name letter case does not matter
   * @throws IllegalArgumentException if there is none, naming those there are
   */
  public static KvGeometry named(String name) {
    String plain = name.strip().toLowerCase(Locale.ROOT);
    for (KvGeometry geometry : values()) {
      if (geometry.label.equals(plain)) return geometry;
    }
    throw new IllegalArgumentException("--model must be one of " + String.join(", ", labels()) + ": \"" + name + '"');
  }
}
