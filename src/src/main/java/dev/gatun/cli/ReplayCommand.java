package dev.gatun.cli;

import dev.gatun.backend.ByteSize;
import dev.gatun.backend.OptionText;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.replay.Fault;
import dev.gatun.cli.replay.KvGeometry;
import dev.gatun.cli.replay.Replay;
import dev.gatun.cli.replay.ReplayDevice;
import dev.gatun.cli.replay.ReplayOptions;
import dev.gatun.cli.replay.ReplayReport;
import dev.gatun.cli.replay.Speed;
import dev.gatun.cli.replay.TraceSource;
import dev.gatun.store.Verify;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The main job: {@code gatun replay}. */
@Command(name = "replay", sortOptions = false, description = {
    "Replays a trace of requests against a KV store with several replicas, refits at step boundaries, and checks every "
        + "byte that comes back.",
    "Exit code 1 if one page was stale or wrong, or a refit failed; 3 if a refit could not be verified."})
final class ReplayCommand extends GatunCommand {
  private static final int TOKENS_MAX = 65_536;

  @Option(names = "--trace", paramLabel = "FILE", description = "JSON lines: {\"timestamp\": ms, \"input_length\": n, \"output_length\": n, \"hash_ids\": [..]}; "
      + "default: a built-in trace of conversations, an hour long")
  @Nullable
  Path trace;

  @Option(names = "--requests", paramLabel = "N", description = "requests of the built-in trace; default: ${DEFAULT-VALUE}")
  int requests = 1_000;

  @Option(names = "--seed", paramLabel = "N", description = "chooses the built-in trace; default: ${DEFAULT-VALUE}")
  long seed = 1;

  @Option(names = "--store", paramLabel = "NAME", description = "loopback (embedded) or mooncake (a master and one process a replica are started); default: "
      + "${DEFAULT-VALUE}")
  String store = "loopback";

  @Option(names = "--replicas", paramLabel = "N", description = "inference hosts side by side; default: ${DEFAULT-VALUE}")
  int replicas = 2;

  @Option(names = "--refit-every", paramLabel = "MS", description = "trace time between refits, 0 for none; default: 600000 with the built-in trace, none with --trace")
  @Nullable
  Long refitEvery;

  @Option(names = "--page-bytes", paramLabel = "SIZE", description = "bytes of a KV page, such as 18432 or 1m; default: 16k")
  @Nullable
  String pageBytes;

  @Option(names = "--model", paramLabel = "NAME", completionCandidates = Models.class, description = "take the page size of a model: ${COMPLETION-CANDIDATES}")
  @Nullable
  String model;

  @Option(names = "--block-tokens", paramLabel = "N", description = "with --model: tokens of a block; default: ${DEFAULT-VALUE}")
  int blockTokens = 16;

  @Option(names = "--capacity", paramLabel = "SIZE", description = "memory of the store; default: enough for all pages, below the eviction watermark")
  @Nullable
  String capacity;

  @Option(names = "--speed", paramLabel = "SPEED", description = "flat (flat out), trace, or a factor such as 60x; default: ${DEFAULT-VALUE}")
  String speed = "flat";

  @Option(names = "--epoch-in-key", paramLabel = "yes|no", description = "whether keys carry the weight version; no: the removal alone protects; default: ${DEFAULT-VALUE}")
  String epochInKey = "yes";

  @Option(names = "--verify", paramLabel = "LEVEL", description = "stamp beside each page: none, stamp or full; default: none")
  Verify verify = Verify.NONE;

  @Option(names = "--proof", paramLabel = "yes|no", description = "for tests: whether refits prove their removal; no: one removal, code ignored")
  String proof = "yes";

  @Option(names = "--fault", paramLabel = "KIND", description = "for tests: break the refits and see it noticed: drop-removal, ignore-removal-code, late-foreign-put")
  String fault = "none";

  @Option(names = "--device", paramLabel = "NAME", description = "where pages are made and checked: none (host memory), cuda (GPU 0), or host (the same path on a GPU made of host memory); default: ${DEFAULT-VALUE}")
  String device = "none";

  static final class Models implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return KvGeometry.labels().iterator();
    }
  }

  @Override
  int run() {
    ReplayReport report = Replay.run(options(), json, nativeLog);
    answer(report.map(), report.text());
    if (report.exitCode() != ExitCode.OK) System.err.println("gatun: " + report.complaint());
    return report.exitCode();
  }

  private ReplayOptions options() {
    long every = refitEvery != null ? refitEvery : trace == null ? 600_000 : 0;
    Long bytes = capacity == null ? null : ByteSize.parse("--capacity", capacity);
    boolean mooncake = isMooncake();
    if (mooncake && trace != null && Files.exists(trace) && !Files.isRegularFile(trace)) {
      throw usage("--trace must be a regular file with --store mooncake, since every process reads it: " + trace);
    }
    return new ReplayOptions(new TraceSource(trace, requests, seed), mooncake, pageBytes(), replicas,
        Speed.parse(speed), every, OptionText.bool("--epoch-in-key", epochInKey), verify, bytes,
        OptionText.bool("--proof", proof), Fault.of(fault), ReplayDevice.of(device));
  }

  private boolean isMooncake() {
    return switch (store) {
      case "loopback" -> false;
      case "mooncake" -> true;
      default -> throw usage("--store must be loopback or mooncake: \"" + store + '"');
    };
  }

  private long pageBytes() {
    if (model != null && pageBytes != null) throw usage("give --model or --page-bytes, not both");
    if (blockTokens < 1 || blockTokens > TOKENS_MAX) {
      throw usage("--block-tokens must be 1 to " + TOKENS_MAX + ": " + blockTokens);
    }
    if (model != null) return KvGeometry.named(model).pageBytes(blockTokens);
    return ByteSize.parse("--page-bytes", pageBytes == null ? "16k" : pageBytes);
  }
}
