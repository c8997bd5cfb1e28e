package dev.gatun.cli;

import dev.gatun.backend.ByteSize;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gatun store stat [KEY]}. */
@Command(name = "stat", description = {"Says what the master's administration knows of the store, or of one key.",
    "Grants no leases. Exits with 1 if there is no such key."})
final class StoreStat extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Parameters(arity = "0..1", paramLabel = "KEY", description = "one key; default: the whole store")
  @Nullable
  String key;

  @Override
  int run() {
    if (key != null) lineText("KEY", key);
    MasterReader master = new MasterReader(connection.admin());
    Map<String, Object> map = key == null ? store(master) : key(master, key);
    answer(map, text(map));
    return ExitCode.OK;
  }

  private static Map<String, Object> key(MasterReader master, String key) {
    Map<String, Object> found = master.key(key)
        .orElseThrow(() -> new CommandException(ExitCode.FAILED, "no such key: " + key));
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("key", key);
    map.putAll(found);
    return map;
  }

  private static Map<String, Object> store(MasterReader master) {
    Map<String, Long> metrics = master.metrics();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("role", master.health().get("role"));
    map.put("keys", metrics.getOrDefault("master_key_count", -1L));
    map.put("allocatedBytes", metrics.getOrDefault("master_allocated_bytes", -1L));
    map.put("capacityBytes", metrics.getOrDefault("master_total_capacity_bytes", -1L));
    map.put("clients", metrics.getOrDefault("master_active_clients", -1L));
    map.put("segments", master.segments().get("segments"));
    return map;
  }

  private static String text(Map<String, Object> map) {
    StringBuilder text = new StringBuilder();
    map.forEach((name, value) -> {
      boolean bytes = name.endsWith("Bytes") && value instanceof Long size && size >= 0;
      text.append(String.format(Locale.ROOT, "%-16s %s%n", name,
          bytes ? value + " (" + ByteSize.format((Long) value) + ')' : value));
    });
    return text.toString();
  }
}
