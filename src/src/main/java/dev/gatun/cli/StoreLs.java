package dev.gatun.cli;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.TerminalText;
import dev.gatun.codec.KeyLabel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gatun store ls}. */
@Command(name = "ls", description = {
    "Lists keys as the master's administration knows them, grouped by what their form says:",
    "whose keys they are, namespace or cache prefix, model, rank, and weight epoch; keys of unknown form as other.",
    "Puts in flight are not listed. Grants no leases. A key with a line end in it shows as two."})
final class StoreLs extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Option(names = "--prefix", paramLabel = "TEXT", description = "only keys that begin with this")
  String prefix = "";

  @Option(names = "--limit", paramLabel = "N", description = "most keys to list; default: ${DEFAULT-VALUE}")
  int limit = 10_000;

  @Option(names = "--flat", description = "keys only, one a line, as they are, without groups")
  boolean flat;

  @Override
  int run() {
    if (limit < 1) throw usage("--limit must be 1 or more: " + limit);
    lineText("--prefix", prefix);
    List<String> keys = new MasterReader(connection.admin()).keys().stream().filter(key -> key.startsWith(prefix))
        .toList();
    List<String> shown = keys.subList(0, Math.min(limit, keys.size()));
    Map<KeyLabel, List<String>> groups = new TreeMap<>();
    for (String key : keys)
      groups.computeIfAbsent(KeyLabel.of(key), fresh -> new ArrayList<>()).add(key);
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("keys", shown);
    map.put("total", keys.size());
    map.put("groups", groups.entrySet().stream().map(group -> json(group.getKey(), group.getValue().size())).toList());
    if (flat && !json) System.out.print(lines("", shown)); // for other programs: as they are
    else
      answer(map, grouped(groups));
    if (!json && shown.size() < keys.size()) {
      System.err.println("gatun: " + (keys.size() - shown.size()) + " more; see --limit");
    }
    return ExitCode.OK;
  }

  private String grouped(Map<KeyLabel, List<String>> groups) {
    StringBuilder text = new StringBuilder();
    int room = limit;
    for (Map.Entry<KeyLabel, List<String>> group : groups.entrySet()) {
      int count = group.getValue().size();
      text.append(heading(group.getKey())).append(": ").append(count).append(count == 1 ? " key" : " keys")
          .append(System.lineSeparator());
      List<String> first = group.getValue().subList(0, Math.min(room, count));
      text.append(lines("  ", first.stream().map(TerminalText::line).toList()));
      room -= first.size();
    }
    return text.toString();
  }

  private static String heading(KeyLabel label) {
    StringBuilder text = new StringBuilder(label.codec());
    part(text, label.codec().equals("gatun") ? "namespace" : "prefix", label.space());
    part(text, "model", label.model());
    part(text, "rank", label.rank());
    part(text, "epoch", label.epoch());
    return text.toString();
  }

  private static void part(StringBuilder text, String name, String value) {
    if (!value.isEmpty()) text.append("  ").append(name).append(' ').append(value);
  }

  private static Map<String, Object> json(KeyLabel label, int keys) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("codec", label.codec());
    map.put("space", label.space());
    map.put("model", label.model());
    map.put("rank", label.rank());
    map.put("epoch", label.epoch());
    map.put("keys", keys);
    return map;
  }

  private static String lines(String indent, List<String> keys) {
    StringBuilder text = new StringBuilder();
    for (String key : keys)
      text.append(indent).append(key).append(System.lineSeparator());
    return text.toString();
  }
}
