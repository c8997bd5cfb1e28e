package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.refit.RefitReport;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * What a refit with its proof takes beside the store's own forced removal, in turns, of a store that is filled anew for each.
 * Bound: a tenth more and 50 ms. On the embedded library also a refit of an empty store without traffic, from closing the
 * gate to its being open again. Bound: 1 ms.
 *
 * <p>Flags: {@code --library loopback|mooncake}, {@code --keys} (100000), {@code --rounds} (10), {@code --output FILE}.
 */
public final class RefitOverhead implements AutoCloseable {
  private static final double SHARE_MAX = 0.1;
  private static final double MORE_MILLIS_MAX = 50;
  private static final double EMPTY_MILLIS_MAX = 1;
  private static final int EMPTY_REFITS = 2_000;
  private static final int EMPTY_WARM_UP = 2_000;
  private static final int PAGE_BYTES = 64;
  private static final int BATCH = 1_000;
  private static final String POOL = "overhead";

  private final EpochGate gate = new EpochGate(new WeightEpoch(POOL, 1));
  private final KvStore store;
  private final BlockPool pool;
  private final RefitCoordinator coordinator;
  private long version = 1;

  private RefitOverhead(StoreOptions options) {
    store = KvStore.open(options, KeyCodec.verbatim(), gate, Observer.NONE);
    pool = BlockPool.allocate(new PoolLayout(PAGE_BYTES, BATCH), gate);
    store.register(pool.slab());
    coordinator = new RefitCoordinator(gate, List.of(store.refitPort()),
        RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED), Observer.NONE);
  }

  /**
   * Measures, prints, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String library = flags.word("--library", List.of(StoreOptions.LOOPBACK, StoreOptions.MOONCAKE));
    int keys = Math.toIntExact(Math.max(1, flags.number("--keys", 100_000)));
    int rounds = Math.toIntExact(Math.max(1, flags.number("--rounds", 10)));
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe().put("library", library).put("keys", keys).put("rounds", rounds);
    long memory = 64L << 20; // room for the default keys, and as much again
    while (memory < 8L * keys * PAGE_BYTES)
      memory *= 2;
    if (library.equals(StoreOptions.LOOPBACK)) {
      try (RefitOverhead overhead = new RefitOverhead(StoreOptions.loopback(POOL, memory))) {
        overhead.empty(report);
        overhead.beside(keys, rounds, report);
      }
    } else {
      Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("refit-overhead.log").toAbsolutePath();
      try (Topology topology = Topology.mooncake("tcp", memory, log);
          RefitOverhead overhead = new RefitOverhead(topology.client())) {
        overhead.beside(keys, rounds, report);
      }
    }
    report.put("loadAfter", Machine.load());
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  private void empty(ObjectNode report) {
    for (int i = 0; i < EMPTY_WARM_UP; i++)
      refit();
    double[] millis = IntStream.range(0, EMPTY_REFITS).mapToDouble(i -> millis(this::refit)).toArray();
    double median = Quantiles.median(millis);
    report.putObject("emptyStore").put("refits", millis.length).put("millisMedian", median)
        .put("millisP99", Quantiles.of(millis, 0.99)).put("boundMillis", EMPTY_MILLIS_MAX);
    System.out.printf("empty store: %.3f ms from closing the gate to its being open, p99 %.3f (bound %.0f): %s%n",
        median,
        Quantiles.of(millis, 0.99), EMPTY_MILLIS_MAX, verdict(median < EMPTY_MILLIS_MAX));
  }

  private void beside(int keys, int rounds, ObjectNode report) {
    List<KvKey> names = IntStream.range(0, keys).mapToObj(i -> KvKey.of("page@" + i)).toList();
    double[] removals = new double[rounds];
    double[] refits = new double[rounds];
    for (int i = -1; i < rounds; i++) { // the first is for classes and connections
      boolean removalFirst = i % 2 == 0;
      double first = filled(names, removalFirst);
      double second = filled(names, !removalFirst);
      if (i < 0) continue;
      removals[i] = removalFirst ? first : second;
      refits[i] = removalFirst ? second : first;
    }
    double removal = Quantiles.median(removals);
    double refit = Quantiles.median(refits);
    double bound = removal * (1 + SHARE_MAX) + MORE_MILLIS_MAX;
    ObjectNode node = report.putObject("besideRemoval").put("removalMillisMedian", removal)
        .put("refitMillisMedian", refit).put("moreMillis", refit - removal).put("boundMillis", bound);
    for (double one : removals)
      node.withArray("removalMillis").add(one);
    for (double one : refits)
      node.withArray("refitMillis").add(one);
    System.out.printf("%d keys: forced removal %.1f ms, refit %.1f ms, %.1f more (bound %.1f): %s%n", keys, removal,
        refit, refit - removal, bound, verdict(refit <= bound));
  }

  /** Fills the store and empties it in one of the two ways. */
  private double filled(List<KvKey> names, boolean removal) {
    fill(names);
    return millis(removal ? () -> store.removeAll(true) : this::refit, names.size());
  }

  private double millis(LongSupplier emptied, long least) {
    long start = System.nanoTime();
    long removed = emptied.getAsLong();
    double millis = (System.nanoTime() - start) / 1e6;
    if (removed < least) throw new IllegalStateException("of " + least + " objects were removed " + removed);
    return millis;
  }

  private double millis(LongSupplier emptied) {
    return millis(emptied, 0);
  }

  private long refit() {
    version++;
    RefitReport report = coordinator.refit(new WeightEpoch(POOL, version));
    if (report.outcome() != RefitOutcome.VERIFIED) throw new IllegalStateException(report.text());
    return report.removed();
  }

  private void fill(List<KvKey> names) {
    try (StoreBatch batch = store.batch(pool, BATCH)) {
      long[] blocks = IntStream.range(0, BATCH).mapToLong(i -> pool.lease()).toArray();
      for (int from = 0; from < names.size(); from += BATCH) {
        batch.clear();
        for (int i = from; i < Math.min(from + BATCH, names.size()); i++)
          batch.add(names.get(i), blocks[i - from]);
        batch.put();
        for (int i = 0; i < batch.size(); i++) {
          if (!batch.isStored(i)) throw new IllegalStateException(batch.key(i) + ": " + batch.putResult(i));
        }
      }
      batch.clear();
      for (long block : blocks)
        pool.release(block);
    }
  }

  private static String verdict(boolean met) {
    return met ? "met" : "MISSED";
  }

  @Override
  public void close() {
    store.unregister(pool.slab());
    pool.close();
    store.close();
  }
}
