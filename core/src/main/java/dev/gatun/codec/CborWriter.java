package dev.gatun.codec;

import java.io.ByteArrayOutputStream;

/** Writes the few kinds of CBOR that block hashes are made of, in canonical form: the shortest, lengths first. */
final class CborWriter {
  private static final int UNSIGNED = 0;
  private static final int NEGATIVE = 1;
  private static final int BYTES = 2;
  private static final int TEXT = 3;
  private static final int ARRAY = 4;
  private static final int NULL = 0xF6;
  // arguments below this stand in the first byte itself; 24 to 27 say that 1, 2, 4 or 8 bytes follow
  private static final int SMALL = 24;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  CborWriter array(int elements) {
    return head(ARRAY, elements);
  }

  CborWriter number(long value) {
    return value >= 0 ? head(UNSIGNED, value) : head(NEGATIVE, ~value);
  }

  /** All 64 bits count. */
  CborWriter unsigned(long value) {
    return head(UNSIGNED, value);
  }

  CborWriter bytes(byte[] value) {
    head(BYTES, value.length);
    out.writeBytes(value);
    return this;
  }

  CborWriter text(byte[] utf8) {
    head(TEXT, utf8.length);
    out.writeBytes(utf8);
    return this;
  }

  CborWriter none() {
    out.write(NULL);
    return this;
  }

  byte[] toBytes() {
    return out.toByteArray();
  }

  private CborWriter head(int kind, long argument) {
    if (argument >= 0 && argument < SMALL) {
      out.write(kind << 5 | (int) argument);
      return this;
    }
    int log = argument < 0 || argument > 0xFFFF_FFFFL ? 3 : argument > 0xFFFF ? 2 : argument > 0xFF ? 1 : 0;
    out.write(kind << 5 | SMALL + log);
    for (int shift = (8 << log) - 8; shift >= 0; shift -= 8)
      out.write((int) (argument >>> shift));
    return this;
  }
}
