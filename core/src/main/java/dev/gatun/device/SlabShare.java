package dev.gatun.device;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Locale;

/**
 * A value that lets another process of the same host and user reach a {@link DeviceSlab}: {@link Device#attach}. It is worth
 * as much as the memory itself, so hand it only to whom may read and write that.
 *
 * @param pid the process that shares
 * @param gpu {@link DeviceInfo#uuid()} of the GPU whose memory it is
 * @param handle what the driver needs, {@value #HANDLE_BYTES} bytes as hexadecimal digits
 * @param offset bytes from the start of the driver's allocation, which is shared as a whole, to the slab's
 * @param bytes size of the slab
 */
public record SlabShare(long pid, String gpu, String handle, long offset, long bytes) {
  /** Bytes of a handle of the driver. */
  public static final int HANDLE_BYTES = 64;
  /** Bytes of {@link #encode()}. */
  public static final int ENCODED_BYTES = 4 * Long.BYTES + 16 + HANDLE_BYTES;

  private static final long MAGIC = 0x3120_5241_4853_5447L; // "GTSHAR 1"
  private static final HexFormat HEX = HexFormat.of();

  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field, its value and what is allowed
   */
  public SlabShare {
    if (pid <= 0) throw new IllegalArgumentException("pid must be positive: " + pid);
    digits("gpu", gpu, 16);
    digits("handle", handle, HANDLE_BYTES);
    if (bytes <= 0) throw new IllegalArgumentException("bytes must be positive: " + bytes);
    if (offset < 0 || offset + bytes < 0) {
      throw new IllegalArgumentException("offset must be 0 or more and end within 2^63: " + offset);
    }
  }

  private static void digits(String field, String text, int bytes) {
    if (!text.matches("[0-9a-f]{" + 2 * bytes + "}")) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, "%s must be %d hexadecimal digits: '%s'", field, 2 * bytes, text));
    }
  }

  /** {@return it in {@value #ENCODED_BYTES} bytes, for {@link #decode}} */
  public byte[] encode() {
    return ByteBuffer.allocate(ENCODED_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(MAGIC).putLong(pid)
        .put(HEX.parseHex(gpu)).put(HEX.parseHex(handle)).putLong(offset).putLong(bytes).array();
  }

  /**
   * {@return what was encoded}
   *
   * @param encoded from {@link #encode}; its position ends behind it
   * @throws IllegalArgumentException if it is not one
   */
  public static SlabShare decode(ByteBuffer encoded) {
    ByteBuffer in = encoded.slice().order(ByteOrder.LITTLE_ENDIAN);
    try {
      long magic = in.getLong();
      if (magic != MAGIC) {
        throw new IllegalArgumentException("encoded must begin with the mark of a slab share: 0x"
            + Long.toHexString(magic));
      }
      SlabShare share = new SlabShare(in.getLong(), text(in, 16), text(in, HANDLE_BYTES), in.getLong(), in.getLong());
      encoded.position(encoded.position() + ENCODED_BYTES);
      return share;
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException(
          "encoded must have " + ENCODED_BYTES + " bytes: " + encoded.remaining(), e);
    }
  }

  private static String text(ByteBuffer in, int bytes) {
    byte[] raw = new byte[bytes];
    in.get(raw);
    return HEX.formatHex(raw);
  }
}
