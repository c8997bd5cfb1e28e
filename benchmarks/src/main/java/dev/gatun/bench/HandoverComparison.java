package dev.gatun.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.connector.FinishedTransfers;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.KvRole;
import dev.gatun.connector.PrefixLookup;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.NixlInstaller;
import dev.gatun.transfer.TransferBatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a hand-over between a prefill and a decode engine adds to the transfer of its bytes: in turns, between the same two
 * processes and blocks, a raw batch of the engine and a whole hand-over, from decode's lookup until its blocks are usable.
 *
 * <p>Flags: {@code --engine loopback|mooncake|nixl} (the last pulls, the others push), {@code --blocks}, {@code --page-bytes},
 * {@code --rounds}, {@code --output FILE}.
 */
public final class HandoverComparison {
  static final List<String> ENGINES = List.of("loopback", "mooncake", "nixl");
  private static final double RATIO_MAX = 1.10;
  // parts of the run, each with a ratio of its own: the interval is over these
  private static final int PARTS = 10;
  // HotSpot's first compiler takes a method after 200 calls, and most of a hand-over is called once in it
  private static final int WARM_ROUNDS = 200;
  private static final Duration WAIT = Duration.ofMinutes(1);

  private final HandoverHost host;
  private final BufferedReader answers;
  private final PrintStream commands;
  private final Map<String, Object> remote = new HashMap<>();
  private final List<TransferBatch> pulls;
  private final List<Long> raw = new ArrayList<>();
  private final List<Long> handedOver = new ArrayList<>();
  private long number;

  private HandoverComparison(HandoverHost host, boolean pulls, BufferedReader answers, PrintStream commands)
      throws IOException {
    this.host = host;
    this.answers = answers;
    this.commands = commands;
    JsonNode prefill = new ObjectMapper().readTree(answer());
    if (prefill.has("bootstrap")) {
      remote.putAll(Map.of("do_remote_prefill", true, "do_remote_decode", false, "remote_engine_id",
          prefill.path("engineId").asText(), "remote_bootstrap_addr", prefill.path("bootstrap").asText()));
    }
    if (pulls) {
      long[] addresses = new long[prefill.path("addresses").size()];
      for (int i = 0; i < addresses.length; i++)
        addresses[i] = prefill.path("addresses").path(i).asLong();
      this.pulls = host.raw(
          SegmentDescriptor.parse(Base64.getDecoder().decode(prefill.path("descriptor").asText())), addresses, true);
    } else {
      this.pulls = List.of();
      ask("target " + Base64.getEncoder().encodeToString(host.engine.descriptor().toBytes()) + ' '
          + Arrays.stream(host.addresses()).mapToObj(Long::toString).collect(Collectors.joining(",")));
    }
  }

  /**
   * Compares, prints, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if a program cannot be started or a file not be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String engine = flags.word("--engine", ENGINES);
    int blocks = Math.toIntExact(flags.number("--blocks", 1_000));
    long pageBytes = flags.bytes("--page-bytes", 65_536);
    int rounds = Math.toIntExact(Math.max(PARTS, flags.number("--rounds", 100)));
    String output = flags.text("--output", "");
    flags.requireKnown();
    if (engine.equals("mooncake")) MooncakeInstaller.install(System.err::println);
    if (engine.equals("nixl")) NixlInstaller.install(System.err::println);
    Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("handovers.log").toAbsolutePath();
    Files.deleteIfExists(log);
    ObjectNode report = Machine.describe().put("engine", engine).put("blocks", blocks).put("pageBytes", pageBytes)
        .put("rounds", rounds);
    Process prefill = new Launcher(log, Map.of()).startJava(HandoverPrefill.class,
        List.of("--engine", engine, "--blocks", Integer.toString(blocks), "--page-bytes", Long.toString(pageBytes)));
    try (PrintStream commands = new PrintStream(prefill.getOutputStream(), true, StandardCharsets.UTF_8);
        HandoverHost host = new HandoverHost(KvRole.CONSUMER, engine, blocks, pageBytes)) {
      HandoverComparison comparison = new HandoverComparison(host, HandoverHost.pulls(engine),
          new BufferedReader(prefill.inputReader(StandardCharsets.UTF_8)), commands);
      comparison.verify();
      comparison.run(WARM_ROUNDS);
      comparison.forget();
      comparison.run(rounds);
      System.out.print(comparison.text(report, (double) blocks * pageBytes));
      comparison.pulls.forEach(TransferBatch::close);
    }
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  static String transferId(long number) {
    return "xfer-" + number;
  }

  /** In turns, and in turns the first. */
  private void run(int rounds) throws IOException {
    for (int round = 0; round < rounds; round++) {
      if (round % 2 == 0) raw.add(rawNanos());
      handedOver.add(handOverNanos());
      if (round % 2 == 1) raw.add(rawNanos());
    }
  }

  private void forget() {
    raw.clear();
    handedOver.clear();
  }

  private long rawNanos() throws IOException {
    return pulls.isEmpty() ? Long.parseLong(ask("raw")) : HandoverHost.rawNanos(pulls);
  }

  private long handOverNanos() throws IOException {
    long now = number++;
    Map<String, Object> params = new HashMap<>(remote);
    if (!remote.isEmpty()) params.put("transfer_id", transferId(now));
    params.putAll(new ObjectMapper().readValue(ask("offer " + now), new TypeReference<Map<String, Object>>() {
    }));
    KvRequest request = host.request(now, params);
    long start = System.nanoTime();
    PrefixLookup found = host.connector.scheduler().lookup(request, 0);
    if (found.blocks() != host.blocks.size()) throw new IllegalStateException("lookup: " + found);
    host.connector.scheduler().allocated(request, host.blocks, found.blocks());
    host.connector.worker().startLoad(host.connector.scheduler().plan(List.of()));
    boolean ended = host.connector.worker().awaitLoads(Deadline.after(WAIT));
    long nanos = System.nanoTime() - start;
    FinishedTransfers done = host.connector.worker().finished();
    if (!ended || done.loads().size() != 1 || !done.loads().getFirst().complete())
      throw new IllegalStateException("hand-over: " + done);
    host.connector.scheduler().update(done);
    host.connector.scheduler().finished(request, host.blocks, 0);
    return nanos;
  }

  /** Both ways must move every byte. */
  private void verify() throws IOException {
    Marks.wipe(host.pool, host.blocks);
    handOverNanos();
    Marks.require("the hand-over", host.pool, host.blocks);
    Marks.wipe(host.pool, host.blocks);
    rawNanos();
    Marks.require("the raw transfer", host.pool, host.blocks);
  }

  private String ask(String command) throws IOException {
    commands.println(command);
    return answer();
  }

  private String answer() throws IOException {
    String line = answers.readLine();
    if (line == null)
      throw new IllegalStateException("the prefill process is gone; see benchmarks/target/handovers.log");
    return line;
  }

  private String text(ObjectNode report, double bytes) {
    List<Double> ratios = new ArrayList<>();
    int rounds = raw.size();
    for (int part = 0; part < PARTS; part++) {
      int from = part * rounds / PARTS;
      int to = (part + 1) * rounds / PARTS;
      ratios.add(median(handedOver.subList(from, to)) / median(raw.subList(from, to)));
    }
    Interval ratio = Interval.ofRatios(ratios);
    report.put("loadAfter", Machine.load()).put("rawMedianNanos", median(raw))
        .put("handoverMedianNanos", median(handedOver)).set("handoverOverRaw", ratio.json());
    return String.format(Locale.ROOT,
        "%s, %d blocks of %d bytes: raw %.3f ms (%.2f GB/s), handed over %.3f ms; ratio %s (target at most %.2f): %s%n",
        report.path("engine").asText(), report.path("blocks").asInt(), report.path("pageBytes").asLong(),
        median(raw) / 1e6, bytes / median(raw), median(handedOver) / 1e6, ratio.text("%.3f"), RATIO_MAX,
        ratio.mean() <= RATIO_MAX ? "met" : "MISSED");
  }

  private static double median(List<Long> nanos) {
    return Quantiles.median(nanos.stream().mapToDouble(Long::doubleValue).toArray());
  }
}
