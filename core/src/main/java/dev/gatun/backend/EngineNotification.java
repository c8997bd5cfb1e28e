package dev.gatun.backend;

import java.nio.charset.StandardCharsets;

/** A message from a peer. Immutable. */
public final class EngineNotification {
  private final String from;
  private final byte[] message;

  /**
   * Creates one.
   *
   * @param from segment name of the sender, or what a foreign sender gave as name
   * @param message its bytes; copied
   */
  public EngineNotification(String from, byte[] message) {
    this.from = from;
    this.message = message.clone();
  }

  /** {@return segment name of the sender as it claims; nothing proves it} */
  public String from() {
    return from;
  }

  /** {@return a copy of the bytes} */
  public byte[] message() {
    return message.clone();
  }

  /** {@return the bytes as UTF-8 text} */
  public String text() {
    return new String(message, StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return message.length + " bytes from " + from;
  }
}
