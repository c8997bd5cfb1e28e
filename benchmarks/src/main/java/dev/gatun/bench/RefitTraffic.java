package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import dev.gatun.store.Verify;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Counts stale pages over many refits under traffic: four hosts put and get, a foreign writer puts beside them, and an oracle
 * reads all pages through every epoch. Three runs:
 *
 * <ul> <li>{@code gatun}: Gatun's own keys; the writer is never stopped and keeps old weights long into each epoch. Bound: no
 * page older than the weights is served. <li>{@code engine}: keys as an engine writes them, which name no weights; the
 * writer is stopped before each refit begins, or, in half of them, somewhere within it. Bounds: no older page can be read
 * after a refit that is VERIFIED; at least 99 % are, of those whose writer was quiet before. <li>{@code control}: engine
 * keys and a writer that nobody stops. None may be VERIFIED, and the oracle must see old pages, or it is blind. </ul>
 *
 * <p>Flags: {@code --library loopback|mooncake}, {@code --refits} of each of the first two runs (1000), {@code --seed},
 * {@code --output FILE}. Exit code 1 if a bound is missed.
 */
public final class RefitTraffic {
  private static final String POOL = "traffic";
  private static final long MEMORY_BYTES = 64L << 20;
  private static final int CONTROL_REFITS_MAX = 50;

  private final StoreOptions options;
  private final long seed;

  private RefitTraffic(StoreOptions options, long seed) {
    this.options = options;
    this.seed = seed;
  }

  /**
   * Counts, prints, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String library = flags.word("--library", List.of(StoreOptions.LOOPBACK, StoreOptions.MOONCAKE));
    int refits = Math.toIntExact(Math.max(1, flags.number("--refits", 1000)));
    long seed = flags.number("--seed", System.nanoTime());
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe().put("library", library).put("seed", seed);
    boolean good;
    if (library.equals(StoreOptions.LOOPBACK)) {
      try (KvStore memory = KvStore.open(StoreOptions.loopback(POOL, MEMORY_BYTES), KeyCodec.verbatim(),
          new EpochGate(new WeightEpoch(POOL, 1)), Observer.NONE)) {
        report.put("storage", memory.name());
        good = new RefitTraffic(StoreOptions.loopback(POOL, 0), seed).count(refits, report);
      }
    } else {
      Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("refit-traffic.log").toAbsolutePath();
      try (Topology topology = Topology.mooncake("tcp", MEMORY_BYTES, log)) {
        report.put("storage", "a storage process over TCP");
        good = new RefitTraffic(topology.client(), seed).count(refits, report);
      }
    }
    report.put("loadAfter", Machine.load()).put("met", good);
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
    if (!good) System.exit(1);
  }

  private boolean count(int refits, ObjectNode report) {
    TrafficTally gatun = run(KeyCodec.epoch("traffic").withVerify(Verify.FULL), OtherClients.UNFENCED,
        run -> run.straggling(refits, true));
    say("gatun", gatun, report);
    TrafficTally engine = run(KeyCodec.verbatim(), OtherClients.FENCED, run -> run.stopping(refits));
    say("engine", engine, report);
    TrafficTally control = run(KeyCodec.verbatim(), OtherClients.UNFENCED,
        run -> run.straggling(Math.min(refits, CONTROL_REFITS_MAX), false));
    say("control", control, report);
    return gatun.good() && engine.good() && control.verified() == 0 && control.olderReadable() > 0;
  }

  private interface Work {
    TrafficTally of(TrafficRun run);
  }

  private TrafficTally run(KeyCodec codec, OtherClients others, Work work) {
    try (TrafficRun run = new TrafficRun(options, codec, others, seed)) {
      return work.of(run);
    }
  }

  private static void say(String name, TrafficTally tally, ObjectNode report) {
    ObjectNode json = tally.json();
    report.set(name, json);
    System.out.println(name + " " + json.toPrettyString());
  }
}
