package dev.gatun.cli;

import dev.gatun.fleet.FleetConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@code gatun refit} that make it a refit of engines as well; what they say overrules the file. */
final class FleetOptions {
  @Option(names = "--fleet", paramLabel = "FILE", description = "also pause, reset and resume the engines that this YAML file lists; whatever else is given overrules it. Exit codes are then: 0 VERIFIED, 1 refused or FAILED, 2 UNVERIFIED or ISOLATED")
  @Nullable
  Path fleet;

  @Option(names = "--engine", paramLabel = "URL", description = "an engine of the fleet, http://host:port, never a router; may be given several times, instead of the file's")
  @Nullable
  List<String> engines;

  @Option(names = "--kind", paramLabel = "KIND", description = "what each --engine is: vllm, sglang; default: vllm")
  @Nullable
  String kind;

  @Option(names = "--mode", paramLabel = "MODE", description = "how each --engine shares its GPUs: standalone, hybrid, colocated; default: standalone")
  @Nullable
  String mode;

  @Option(names = "--path", paramLabel = "PATH", description = "fleet: after-weight-sync, pause, wake-up, clear-kv-cache, abort-all, sleep; default: after-weight-sync")
  @Nullable
  String path;

  @Option(names = "--pause", paramLabel = "MODE", description = "fleet: what becomes of running requests: abort, wait; default: abort")
  @Nullable
  String pause;

  @Option(names = "--attempts", paramLabel = "N", description = "fleet: most attempts with --on-failure retry; default: 3")
  @Nullable
  String attempts;

  @Option(names = "--watch", paramLabel = "TIME", description = "fleet: how long to look for late removals once the engines run again, such as 5s; default: one look")
  @Nullable
  String watch;

  @Option(names = "--node-rank", paramLabel = "N", description = "fleet: rank of the node this runs on; any other than 0 returns at once; default: 0")
  @Nullable
  String nodeRank;

  @Option(names = "--dry-run", description = "fleet: ask the engines what they are and print what would be done")
  boolean dryRun;

  /** {@return whether engines are refitted} */
  boolean given() {
    return fleet != null || engines != null;
  }

  /** {@return the first of these options that means nothing without engines, null if none is given} */
  @Nullable
  String withoutEngines() {
    if (given()) return null;
    Map<String, Object> values = new LinkedHashMap<>();
    fill(values);
    if (dryRun) values.put("dry_run", true);
    if (kind != null) values.put("kind", kind);
    if (mode != null) values.put("mode", mode);
    return values.keySet().stream().findFirst().map(name -> "--" + name.replace('_', '-')).orElse(null);
  }

  /** {@return the configuration: the file's values, and over them the command line's} */
  FleetConfig config(Map<String, Object> others) {
    Map<String, Object> values = fleet == null ? new LinkedHashMap<>() : FleetConfig.values(fleet);
    if (others.containsKey("config")) values.keySet().removeAll(List.of("master", "admin"));
    if (others.containsKey("master") || others.containsKey("admin")) values.remove("config");
    values.putAll(others);
    fill(values);
    if (engines != null) values.put("engines", engines.stream().map(this::engine).toList());
    else if (kind != null || mode != null) {
      throw new IllegalArgumentException("--kind and --mode are for --engine; the file says them of its own engines");
    }
    return FleetConfig.of(values);
  }

  private Map<String, Object> engine(String url) {
    Map<String, Object> engine = new LinkedHashMap<>();
    engine.put("url", url);
    put(engine, "kind", kind);
    put(engine, "mode", mode);
    return engine;
  }

  private void fill(Map<String, Object> values) {
    put(values, "path", path);
    put(values, "pause", pause);
    put(values, "attempts", attempts);
    put(values, "watch", watch);
    put(values, "node_rank", nodeRank);
  }

  static void put(Map<String, Object> values, String name, @Nullable Object value) {
    if (value != null) values.put(name, value);
  }
}
