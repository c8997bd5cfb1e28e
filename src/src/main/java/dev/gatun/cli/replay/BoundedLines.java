package dev.gatun.cli.replay;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Lines of a stream as bytes, each of a bounded length, so that a file without line ends cannot fill memory. */
final class BoundedLines {
  // 16 MiB: about two million hash ids, far beyond any prompt; a bound against files that are no traces
  static final int LINE_BYTES_MAX = 16 << 20;

  private final InputStream in;
  private byte[] buffer = new byte[1 << 16];
  private int start;
  private int end;
  private int length;
  private int consumed;
  private long number;

  BoundedLines(InputStream in) {
    this.in = in;
  }

  /**
   * Moves to the next line.
   *
   * @return false at the end of the stream
   * @throws IOException if the stream fails or the line is too long
   */
  boolean next() throws IOException {
    start += consumed;
    consumed = 0;
    int scanned = start;
    while (true) {
      for (int i = scanned; i < end; i++) {
        if (buffer[i] == '\n') return line(i - start, i - start + 1);
      }
      scanned = end - start;
      if (!fill()) return end > start && line(end - start, end - start);
    }
  }

  private boolean line(int bytes, int withEnd) {
    length = bytes;
    consumed = withEnd;
    number++;
    return true;
  }

  // Makes room behind the unread bytes, which move to the front, and reads on.
  private boolean fill() throws IOException {
    System.arraycopy(buffer, start, buffer, 0, end - start);
    end -= start;
    start = 0;
    if (end == buffer.length) {
      if (end >= LINE_BYTES_MAX) {
        throw new IOException("line " + (number + 1) + " is longer than " + LINE_BYTES_MAX + " bytes");
      }
      buffer = Arrays.copyOf(buffer, end * 2);
    }
    int read = in.read(buffer, end, buffer.length - end);
    if (read > 0) end += read;
    return read > 0;
  }

  /** {@return the line, without its end, from {@link #offset}} */
  byte[] bytes() {
    return buffer;
  }

  int offset() {
    return start;
  }

  int length() {
    return length;
  }

  /** {@return the line's number, from 1} */
  long number() {
    return number;
  }
}
