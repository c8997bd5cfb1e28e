package dev.gatun.bench;

import dev.gatun.device.Device;
import dev.gatun.device.SharedSlab;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The process that pages are pushed to: it owns the cache, shares it, says when it hears of an arrival, and checks every
 * byte. Asked through standard input, answers on standard output. Arguments: driver, GPU.
 */
public final class DecodeSide {
  /** What it is asked. */
  enum Question {
    /** Library and size of the matrices of {@link Product}, before a cache is open; the answer is 0. */
    PRODUCT('p'),
    /** Fragment bytes and blocks: a new cache. The answer is its share. */
    OPEN('o'),
    /** The answer is the time. */
    ARRIVED('a'),
    /** For each block the source's, -1 if none. The answer is how many blocks are wrong. */
    CHECK('c'),
    /** A sender's socket, rounds, pause and blocks: grants them and awaits the pages, so often. The answers are nanoseconds. */
    GRANTS('g'),
    /** How many products: runs them. The answers are 0 once they are queued and then nanoseconds that they took. */
    RUN('r'),
    /** Hands the cache to NIXL, for as long as it is open. The answer is the length of its descriptor, then the descriptor. */
    NIXL('n'),
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

  private final DataInputStream in = new DataInputStream(System.in);
  private final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
  private @Nullable Product product;

  private DecodeSide() {}

  /**
   * Answers until its input ends.
   *
   * @param arguments see above
   * @throws IOException if the other process is gone
   */
  public static void main(String[] arguments) throws IOException {
    int ordinal = Integer.parseInt(arguments[1]);
    try (Device gpu = Device.open(arguments[0], ordinal)) {
      new DecodeSide().answer(gpu, arguments[0], ordinal);
    }
  }

  private void answer(Device gpu, String driver, int ordinal) throws IOException {
    for (int question = in.read(); question >= 0; question = in.read()) {
      switch (Question.of(question)) {
        case PRODUCT -> product = Product.on(driver, in.readUTF(), ordinal, in.readInt());
        case OPEN -> open(gpu, in.readLong(), in.readInt());
        default -> throw new IllegalStateException("open first");
      }
      out.writeLong(0);
      out.flush();
    }
  }

  private void open(Device gpu, long fragmentBytes, int blocks) throws IOException {
    try (PlacedCache cache = new PlacedCache(gpu, fragmentBytes, blocks);
        SharedSlab shared = gpu.share(cache.memory())) {
      out.write(shared.share().encode());
      out.flush();
      answer(cache, blocks);
    }
  }

  /** Until it is to close. */
  private void answer(PlacedCache cache, int blocks) throws IOException {
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
        case RUN -> run(in.readInt());
        case NIXL -> {
          try (NixlCache nixl = new NixlCache("decode", cache.memory())) {
            byte[] descriptor = nixl.engine().descriptor().toBytes();
            out.writeLong(descriptor.length);
            out.write(descriptor);
            out.flush();
            answer(cache, blocks);
          }
          return;
        }
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

  private void run(int products) throws IOException {
    Product made = product;
    if (made == null) throw new IllegalStateException("no product was made");
    made.queue(products);
    out.writeLong(0);
    out.flush();
    out.writeLong(Math.round(made.millis() * 1e6));
  }
}
