package dev.gatun.codec;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * What {@code sha256} hashes: Python's pickle, protocol 5, of {@code (parent, (token, …), None | (salt,))}; nothing else
 * is written here. LoRA and other inputs are left out, since their form depends on which of Python's objects are the same.
 *
 * @param tagged whether the salt stands behind the name of its kind
 */
record PickleInput(boolean tagged) implements HashInput {
  private static final int PROTOCOL = 0x80;
  private static final int FRAME = 0x95;
  private static final int MEMOIZE = 0x94;
  private static final int STOP = '.';
  private static final int NONE = 'N';
  private static final int SHORT_BYTES = 'C';
  private static final int SHORT_TEXT = 0x8C;
  private static final int LONG_TEXT = 'X';
  private static final int INT_1 = 'K';
  private static final int INT_2 = 'M';
  private static final int INT_4 = 'J';
  private static final int INT_N = 0x8A;
  private static final int MARK = '(';
  private static final int TUPLE = 't';
  private static final int EMPTY_TUPLE = ')';
  // opcodes of tuples of 1, 2 and 3 elements follow each other
  private static final int TUPLE_1 = 0x85;
  // Python begins another frame here
  private static final int FRAME_BYTES_MAX = 64 * 1024;

  @Override
  public byte[] seed(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    text(out, text);
    return framed(out);
  }

  @Override
  public byte[] block(byte[] parent, long[] tokens, int from, int to, List<BlockExtra> extras) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(SHORT_BYTES);
    out.write(parent.length);
    out.writeBytes(parent);
    out.write(MEMOIZE);
    tokens(out, tokens, from, to);
    extras(out, extras);
    tupleOf(out, 3);
    return framed(out);
  }

  private static void tokens(ByteArrayOutputStream out, long[] tokens, int from, int to) {
    int count = to - from;
    if (count == 0) {
      out.write(EMPTY_TUPLE);
      return;
    }
    if (count > 3) out.write(MARK);
    for (int i = from; i < to; i++)
      number(out, tokens[i]);
    if (count > 3) {
      out.write(TUPLE);
      out.write(MEMOIZE);
    } else {
      tupleOf(out, count);
    }
  }

  private void extras(ByteArrayOutputStream out, List<BlockExtra> extras) {
    if (extras.isEmpty()) {
      out.write(NONE);
      return;
    }
    if (extras.size() > 1 || !(extras.getFirst() instanceof BlockExtra.CacheSalt salt)) {
      throw new IllegalArgumentException("extras must be none or one cache salt for the hash sha256: " + extras
          + "; run the engine with sha256_cbor");
    }
    if (tagged) text(out, "cache_salt");
    text(out, salt.salt());
    if (tagged) tupleOf(out, 2);
    tupleOf(out, 1);
  }

  private static void tupleOf(ByteArrayOutputStream out, int count) {
    out.write(TUPLE_1 + count - 1);
    out.write(MEMOIZE);
  }

  private static void text(ByteArrayOutputStream out, String value) {
    byte[] utf8 = Text.utf8("text", value);
    if (utf8.length <= 0xFF) {
      out.write(SHORT_TEXT);
      out.write(utf8.length);
    } else {
      out.write(LONG_TEXT);
      littleEndian(out, utf8.length, 4);
    }
    out.writeBytes(utf8);
    out.write(MEMOIZE);
  }

  private static void number(ByteArrayOutputStream out, long value) {
    if (value <= 0xFF) {
      out.write(INT_1);
      littleEndian(out, value, 1);
    } else if (value <= 0xFFFF) {
      out.write(INT_2);
      littleEndian(out, value, 2);
    } else if (value <= Integer.MAX_VALUE) {
      out.write(INT_4);
      littleEndian(out, value, 4);
    } else {
      // as many bytes as the number needs beside its sign
      int bytes = (Long.SIZE - Long.numberOfLeadingZeros(value)) / Byte.SIZE + 1;
      out.write(INT_N);
      out.write(bytes);
      littleEndian(out, value, bytes);
    }
  }

  private static void littleEndian(ByteArrayOutputStream out, long value, int bytes) {
    for (int i = 0; i < bytes; i++)
      out.write(i == Long.BYTES ? 0 : (int) (value >>> (i * Byte.SIZE)));
  }

  private static byte[] framed(ByteArrayOutputStream body) {
    body.write(STOP);
    if (body.size() >= FRAME_BYTES_MAX) {
      throw new IllegalArgumentException("block must have fewer tokens for the hash sha256: its form has " + body.size()
          + " bytes, at most " + (FRAME_BYTES_MAX - 1) + "; run the engine with sha256_cbor");
    }
    return ByteBuffer.allocate(2 + 1 + Long.BYTES + body.size()).order(ByteOrder.LITTLE_ENDIAN).put((byte) PROTOCOL)
        .put((byte) 5).put((byte) FRAME).putLong(body.size()).put(body.toByteArray()).array();
  }
}
