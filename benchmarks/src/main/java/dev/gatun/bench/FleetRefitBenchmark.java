package dev.gatun.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.fleet.FleetConfig;
import dev.gatun.fleet.FleetOutcome;
import dev.gatun.fleet.FleetRefit;
import dev.gatun.fleet.FleetReport;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * A refit of a whole fleet beside one of its slowest engine alone, in turns: the project's bound is the time of the slowest
 * engine and a tenth. Engines are HTTP servers of this process which answer orders after between a tenth and the whole of
 * {@code --slow-millis}; they share a store of the embedded library, filled anew for each refit.
 *
 * <p>Flags: {@code --engines} (256), {@code --slow-millis} (1000), {@code --rounds} (5), {@code --pages} in the store
 * (1000), {@code --output FILE}.
 */
public final class FleetRefitBenchmark {
  private static final double BOUND = 1.1;
  private static final String POOL = "fleet-benchmark";
  private static final int PAGE_BYTES = 4_096;

  private final List<DelayedEngine> fleet;
  private final KvStore store;
  private final int pages;
  private long version;

  private FleetRefitBenchmark(List<DelayedEngine> fleet, KvStore store, int pages) {
    this.fleet = fleet;
    this.store = store;
    this.pages = pages;
  }

  /**
   * Measures, prints the medians, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if a server cannot be started or a file not be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    int engines = Math.toIntExact(Math.max(1, flags.number("--engines", 256)));
    long slowMillis = Math.max(1, flags.number("--slow-millis", 1000));
    int rounds = Math.toIntExact(Math.max(1, flags.number("--rounds", 5)));
    int pages = Math.toIntExact(flags.number("--pages", 1000));
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe().put("engines", engines).put("slowMillis", slowMillis).put("pages", pages);
    List<DelayedEngine> fleet = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor(); KvStore store = store(pages)) {
      for (int i = 1; i <= engines; i++)
        fleet.add(new DelayedEngine(TimeUnit.MILLISECONDS.toNanos(slowMillis) / 10 * (1 + 9L * i / engines), threads));
      new FleetRefitBenchmark(fleet, store, pages).measure(rounds, report);
      fleet.forEach(DelayedEngine::close);
    }
    report.put("loadAfter", Machine.load());
    if (!output.isEmpty()) {
      Files.writeString(Path.of(output),
          new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(report) + '\n');
    }
  }

  private static KvStore store(int pages) {
    long bytes = 32L << 20; // room for the default pages, and as much again
    while (bytes < 2L * pages * PAGE_BYTES)
      bytes *= 2;
    return KvStore.open(StoreOptions.loopback(POOL, bytes), KeyCodec.verbatim(),
        new EpochGate(new WeightEpoch("engines", 1)), Observer.NONE);
  }

  private void measure(int rounds, ObjectNode report) {
    refit(fleet.subList(0, 1)); // classes and connections
    List<FleetReport> whole = new ArrayList<>();
    List<FleetReport> slowest = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      whole.add(refit(fleet));
      slowest.add(refit(fleet.subList(fleet.size() - 1, fleet.size())));
    }
    ArrayNode phases = report.putArray("phases");
    for (FleetReport.PhaseTime phase : whole.getFirst().phases())
      compare(phase.name(), phases.addObject(), whole, slowest, one -> nanos(one, phase.name()));
    compare("whole refit", report.putObject("refit"), whole, slowest, FleetReport::nanos);
  }

  private FleetReport refit(List<DelayedEngine> engines) {
    try (Arena arena = Arena.ofConfined()) { // per refit
      for (int i = 0; i < pages; i++)
        store.put(KvKey.of("page@" + i), arena.allocate(PAGE_BYTES));
    }
    version++;
    FleetReport report = new FleetRefit(FleetConfig.of(Map.of("run", "benchmark", "weight_version", version, "master",
        "127.0.0.1:1", "deadline", "120s", "engines",
        engines.stream().map(engine -> Map.of("url", engine.url())).toList()))
        .withStore(StoreOptions.loopback(POOL, 0))).run();
    if (report.outcome() != FleetOutcome.VERIFIED) throw new IllegalStateException(report.text());
    return report;
  }

  private static void compare(String name, ObjectNode into, List<FleetReport> whole, List<FleetReport> slowest,
      ToLongFunction<FleetReport> time) {
    double fleet = median(whole, time);
    double alone = median(slowest, time);
    into.put("name", name).put("fleetMillis", fleet / 1e6).put("slowestAloneMillis", alone / 1e6)
        .put("ratio", fleet / alone).put("bound", BOUND);
    System.out.printf("%-12s fleet %8.1f ms, slowest engine alone %8.1f ms, ratio %.3f%n", name, fleet / 1e6,
        alone / 1e6, fleet / alone);
  }

  private static long nanos(FleetReport report, String phase) {
    return report.phases().stream().filter(one -> one.name().equals(phase)).mapToLong(FleetReport.PhaseTime::nanos)
        .sum();
  }

  private static double median(List<FleetReport> reports, ToLongFunction<FleetReport> time) {
    long[] nanos = reports.stream().mapToLong(time).sorted().toArray();
    return nanos.length % 2 == 1
        ? nanos[nanos.length / 2]
        : Arrays.stream(nanos, nanos.length / 2 - 1, nanos.length / 2 + 1).average().orElseThrow();
  }
}
