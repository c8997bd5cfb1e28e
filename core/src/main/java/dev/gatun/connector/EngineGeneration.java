package dev.gatun.connector;

import java.util.Set;

/** A line of vLLM releases that reads the same {@code kv_transfer_config} fields. */
public enum EngineGeneration {
  /** vLLM 0.25, the release that NeMo-RL pins. */
  V25("0.25"),
  /** vLLM 0.33 and, as measured, 0.32: four fields of the first connectors are gone. */
  V33("0.33");

  private final String release;

  EngineGeneration(String release) {
    this.release = release;
  }

  /** {@return the vLLM release that names the line, such as {@code 0.33}} */
  public String release() {
    return release;
  }

  /** {@return fields of earlier lines that this one refuses as unknown; unmodifiable} */
  public Set<String> removedFields() {
    return switch (this) {
      case V25 -> Set.of();
      case V33 -> Set.of("kv_buffer_size", "kv_rank", "kv_parallel_size", "kv_ip");
    };
  }
}
