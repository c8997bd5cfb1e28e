package dev.gatun.codec;

import java.util.Optional;

/** A vLLM release whose store keys and block hashes Gatun writes. */
public enum VllmRelease {
  /** Extras of a hash are bare values; without PYTHONHASHSEED each process has a random seed. */
  V0_25("0.25", false),
  /** Extras of a hash carry their kind; without PYTHONHASHSEED all processes share a seed. */
  V0_32("0.32", true),
  /** As 0.32. */
  V0_33("0.33", true);

  private static final String SHARED_SEED = "vllm-none-hash";

  private final String version;
  private final boolean tagged;

  VllmRelease(String version, boolean tagged) {
    this.version = version;
    this.tagged = tagged;
  }

  /** {@return the release as vLLM writes it, such as {@code 0.33}} */
  public String version() {
    return version;
  }

  /**
   * {@return the seed of an engine that was started without PYTHONHASHSEED; empty where it is random, so that no other
   * process can compute its keys}
   */
  public Optional<String> seedIfUnset() {
    return tagged ? Optional.of(SHARED_SEED) : Optional.empty();
  }

  /** Whether extras of a hash carry the name of their kind. */
  boolean taggedExtras() {
    return tagged;
  }

  /** Whether a key can carry the layout of a store shared by engines of several parallel sizes. */
  boolean storeLayouts() {
    return tagged;
  }
}
