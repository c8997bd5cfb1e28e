package dev.gatun.cli;

import dev.gatun.cli.console.ExitCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gatun store ls}. */
@Command(name = "ls", description = {"Lists keys, one a line, as the master's administration knows them.",
    "Puts in flight are not listed. Grants no leases."})
final class StoreLs extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Option(names = "--prefix", paramLabel = "TEXT", description = "only keys that begin with this")
  String prefix = "";

  @Option(names = "--limit", paramLabel = "N", description = "most keys to list; default: ${DEFAULT-VALUE}")
  int limit = 10_000;

  @Override
  int run() {
    if (limit < 1) throw usage("--limit must be 1 or more: " + limit);
    keyText("--prefix", prefix);
    List<String> keys = new MasterReader(connection.admin()).keys().stream().filter(key -> key.startsWith(prefix))
        .toList();
    List<String> shown = keys.subList(0, Math.min(limit, keys.size()));
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("keys", shown);
    map.put("total", keys.size());
    StringBuilder text = new StringBuilder();
    for (String key : shown)
      text.append(key).append(System.lineSeparator());
    answer(map, text.toString());
    if (!json && shown.size() < keys.size()) {
      System.err.println("gatun: " + (keys.size() - shown.size()) + " more; see --limit");
    }
    return ExitCode.OK;
  }
}
