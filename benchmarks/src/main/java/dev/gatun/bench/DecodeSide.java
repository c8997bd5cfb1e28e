package dev.gatun.bench;

import dev.gatun.device.Device;
import dev.gatun.device.SharedSlab;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * The process that pages are pushed to: it owns the cache, shares it, says when it hears of an arrival, and checks every
 * byte. Asked through standard input, answers on standard output. Arguments: driver, GPU.
 */
public final class DecodeSide {
  private DecodeSide() {}

  /** What it is asked. */
  enum Question {
    /** Fragment bytes and blocks: a new cache. The answer is its share. */
    OPEN('o'),
    /** The answer is the time. */
    ARRIVED('a'),
    /** For each block the source's, -1 if none. The answer is how many blocks are wrong. */
    CHECK('c'),
    /** A sender's socket, rounds and blocks: grants them and awaits the pages, so often. The answers are nanoseconds. */
    GRANTS('g'),
    /** Zeroes the cache; the answer is 0. */
    CLEAR('z'),
    /** Frees the cache; the answer is 0. */
    CLOSE('x');

    private final int code;

    Question(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    static Question of(int code) {
      for (Question question : values())
        if (question.code == code) return question;
      throw new IllegalArgumentException("no question: " + code);
    }
  }

  /**
   * Answers until its input ends.
   *
   * @param arguments see above
   * @throws IOException if the other process is gone
   */
  public static void main(String[] arguments) throws IOException {
    DataInputStream in = new DataInputStream(System.in);
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
    try (Device gpu = Device.open(arguments[0], Integer.parseInt(arguments[1]))) {
      for (int question = in.read(); question >= 0; question = in.read()) {
        if (Question.of(question) != Question.OPEN) throw new IllegalStateException("open first");
        long fragmentBytes = in.readLong();
        int blocks = in.readInt();
        try (PlacedCache cache = new PlacedCache(gpu, fragmentBytes, blocks);
            SharedSlab shared = gpu.share(cache.memory())) {
          out.write(shared.share().encode());
          out.flush();
          answer(in, out, cache, blocks);
        }
        out.writeLong(0);
        out.flush();
      }
    }
  }

  private static void answer(DataInputStream in, DataOutputStream out, PlacedCache cache, int blocks)
      throws IOException {
    while (true) {
      switch (Question.of(in.readByte())) {
        case ARRIVED -> out.writeLong(System.nanoTime());
        case CHECK -> {
          int[] sources = new int[blocks];
          for (int block = 0; block < blocks; block++)
            sources[block] = in.readInt();
          out.writeLong(cache.wrongBlocks(sources));
        }
        case GRANTS -> GrantedPages.take(cache, in, out);
        case CLEAR -> {
          cache.clear();
          out.writeLong(0);
        }
        case CLOSE -> {
          return;
        }
        default -> throw new IllegalStateException("close first");
      }
      out.flush();
    }
  }
}
