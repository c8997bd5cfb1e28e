package dev.gatun.transfer;

import dev.gatun.backend.SegmentDescriptor;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * What an engine told about itself, and when by its own clock: a peer may hear it late and out of order, and an engine that
 * was restarted under its old name must not be taken for what it was before.
 *
 * @param descriptor name and memory
 * @param instance of the engine, unique in the world: names are used again
 * @param millis since 1970, by the clock of whoever told
 */
record Told(SegmentDescriptor descriptor, UUID instance, long millis) {
  private static final int HEAD_BYTES = 3 * Long.BYTES;

  static Told by(TransferEngine engine) {
    long millis = System.currentTimeMillis(); // before: what is older must not pass for younger
    return new Told(engine.descriptor(), engine.core().instance, millis);
  }

  /** {@return the younger of the two, {@code other} if neither is} */
  Told or(Told other) {
    return millis > other.millis ? this : other;
  }

  byte[] toBytes() {
    byte[] bytes = descriptor.toBytes();
    return ByteBuffer.allocate(HEAD_BYTES + bytes.length).putLong(millis).putLong(instance.getMostSignificantBits())
        .putLong(instance.getLeastSignificantBits()).put(bytes).array();
  }

  /**
   * {@return what {@link #toBytes} wrote}
   *
   * @throws IllegalArgumentException if it is something else
   */
  static Told parse(byte[] bytes) {
    if (bytes.length < HEAD_BYTES) {
      throw new IllegalArgumentException(
          "segment must begin with " + HEAD_BYTES + " bytes of time and instance: " + bytes.length);
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long millis = in.getLong();
    UUID instance = new UUID(in.getLong(), in.getLong());
    byte[] descriptor = new byte[in.remaining()];
    in.get(descriptor);
    return new Told(SegmentDescriptor.parse(descriptor), instance, millis);
  }
}
