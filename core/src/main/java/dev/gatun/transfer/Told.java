package dev.gatun.transfer;

import dev.gatun.backend.SegmentDescriptor;
import java.nio.ByteBuffer;

/**
 * What an engine told about itself, and when by its own clock: a peer may hear it late and out of order, and an engine that
 * was restarted under its old name must not be taken for what it was before.
 *
 * @param descriptor name, memory and instance
 * @param millis since 1970, by the clock of whoever told
 */
record Told(SegmentDescriptor descriptor, long millis) {
  Told {
    if (descriptor.instance().isEmpty()) {
      throw new IllegalArgumentException("segment must say which engine of its name it is of: " + descriptor);
    }
  }

  static Told by(TransferEngine engine) {
    long millis = System.currentTimeMillis(); // before: what is older must not pass for younger
    return new Told(engine.descriptor(), millis);
  }

  /** {@return the younger of the two, {@code other} if neither is} */
  Told or(Told other) {
    return millis > other.millis ? this : other;
  }

  byte[] toBytes() {
    byte[] bytes = descriptor.toBytes();
    return ByteBuffer.allocate(Long.BYTES + bytes.length).putLong(millis).put(bytes).array();
  }

  /**
   * {@return what {@link #toBytes} wrote}
   *
   * @throws IllegalArgumentException if it is something else
   */
  static Told parse(byte[] bytes) {
    if (bytes.length < Long.BYTES) {
      throw new IllegalArgumentException("segment must begin with " + Long.BYTES + " bytes of time: " + bytes.length);
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long millis = in.getLong();
    byte[] descriptor = new byte[in.remaining()];
    in.get(descriptor);
    return new Told(SegmentDescriptor.parse(descriptor), millis);
  }
}
