package dev.gatun.bench;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.io.IOException;

/** Contributes memory to a master until its standard input ends. */
public final class StorageProcess {
  /** The line that says that the memory is there. */
  static final String READY = "ready";

  private StorageProcess() {}

  /**
   * Opens, says so, waits.
   *
   * @param arguments {@code --master}, {@code --segment}
   * @throws IOException if standard input cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    StoreOptions options = StoreOptions.mooncake(flags.text("--master", "127.0.0.1:50051"))
        .segmentBytes(flags.bytes("--segment", 1L << 30)).build();
    flags.requireKnown();
    EpochGate gate = new EpochGate(new WeightEpoch("storage", 0));
    try (KvStore store = KvStore.open(options, KeyCodec.verbatim(), gate, Observer.NONE)) {
      System.err.println("contributes memory to " + store.name());
      System.out.println(READY);
      while (System.in.read() >= 0) {
        // waits for the parent, or for its end
      }
    }
  }
}
