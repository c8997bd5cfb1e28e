package dev.gatun.connector;

/** What an engine does with the KV cache it computes: {@code kv_role}. */
public enum KvRole {
  /** Computes KV and hands it out. */
  PRODUCER("kv_producer"),
  /** Takes KV that others computed. */
  CONSUMER("kv_consumer"),
  /** Does both. */
  BOTH("kv_both");

  private final String text;

  KvRole(String text) {
    this.text = text;
  }

  /** {@return whether the role hands out KV} */
  public boolean produces() {
    return this != CONSUMER;
  }

  /** {@return whether the role takes KV} */
  public boolean consumes() {
    return this != PRODUCER;
  }

  /** {@return the word that configurations use, such as {@code kv_both}} */
  @Override
  public String toString() {
    return text;
  }
}
