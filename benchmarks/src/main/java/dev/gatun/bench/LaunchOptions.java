package dev.gatun.bench;

import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.StoreOptionsBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * What a launch measures. The flags that the C program has too mean the same.
 *
 * @param store how to open the store: {@code --library}, {@code --master}, {@code --segment}, {@code --local-buffer}
 * @param cells {@code --pages} times {@code --batches}, without those above {@code --max-batch}
 * @param peers {@code --peers}: {@code storeBatch}, {@code rawDowncall}, {@code cInJvm}
 * @param operations {@code --operations}: {@code put}, {@code get}, {@code exists}, {@code fillPut}, {@code fillGet}
 * @param cellMillis {@code --cell-millis}: time for each cell, peer and operation, half of it to warm up
 * @param warmMillis {@code --warm-millis}: time for each peer and operation before the first cell
 * @param iterationsMin {@code --min-iterations}: measured iterations of a cell, however long they take
 */
record LaunchOptions(StoreOptions store, List<StoreCell> cells, List<String> peers, List<StoreOperation> operations,
    long cellMillis, long warmMillis, int iterationsMin) {
  static final String STORE_BATCH = "storeBatch";
  static final String RAW_DOWNCALL = "rawDowncall";
  static final String C_IN_JVM = "cInJvm";
  static final List<String> PEERS = List.of(STORE_BATCH, RAW_DOWNCALL, C_IN_JVM);

  LaunchOptions {
    if (!PEERS.containsAll(peers)) throw new IllegalArgumentException("--peers must be of " + PEERS + ": " + peers);
    boolean mixed = peers.contains(STORE_BATCH) && peers.size() > 1;
    if (mixed && store.library().equals(StoreOptions.MOONCAKE)) {
      throw new IllegalArgumentException("--peers on mooncake: the product or the baselines, since two clients of one "
          + "process would share its cores, and only one owns the segment: " + peers);
    }
  }

  static LaunchOptions parse(Flags flags) {
    String library = flags.word("--library", List.of(StoreOptions.LOOPBACK, StoreOptions.MOONCAKE));
    boolean embedded = library.equals(StoreOptions.LOOPBACK);
    List<StoreCell> cells = StoreCell.all(flags.sizes("--pages", StoreCell.PAGE_BYTES),
        flags.numbers("--batches", StoreCell.BATCHES), flags.bytes("--max-batch", 512L << 20));
    StoreOptionsBuilder store = StoreOptions
        .of(Map.of("library", library, "master",
            flags.text("--master", embedded ? "loopback:bench" : "127.0.0.1:50051")))
        .segmentBytes(flags.bytes("--segment", segmentBytes(cells)))
        .localBufferBytes(flags.bytes("--local-buffer", 64L << 20));
    List<StoreOperation> operations = operations(
        flags.words("--operations", Arrays.stream(StoreOperation.values()).map(StoreOperation::text).toList()));
    LaunchOptions options = new LaunchOptions(store.build(), cells,
        flags.words("--peers", embedded ? PEERS : List.of(STORE_BATCH)), operations, flags.number("--cell-millis", 300),
        flags.number("--warm-millis", 500), Math.toIntExact(Math.max(1, flags.number("--min-iterations", 5))));
    flags.requireKnown();
    return options;
  }

  /** {@return memory that holds any cell, with the half that keeps it below the watermark and fragments apart} */
  static long segmentBytes(List<StoreCell> cells) {
    long largest = cells.stream().mapToLong(StoreCell::bytes).max().orElse(0);
    return Math.max(1L << 30, largest + largest / 2);
  }

  private static List<StoreOperation> operations(List<String> names) {
    List<StoreOperation> operations = new ArrayList<>();
    for (StoreOperation operation : StoreOperation.values())
      if (names.contains(operation.text())) operations.add(operation);
    if (operations.size() == names.size()) return operations;
    throw new IllegalArgumentException("--operations must be of "
        + Arrays.stream(StoreOperation.values()).map(StoreOperation::text).toList() + ": " + names);
  }
}
