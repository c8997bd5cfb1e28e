package dev.gatun.cli.replay;

import dev.gatun.cli.console.JsonFields;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where requests come from, so that each process can read them itself.
 *
 * @param file JSON lines, null for the built-in trace
 * @param requests of the built-in trace
 * @param seed of the built-in trace
 */
public record TraceSource(@Nullable Path file, int requests, long seed) {

  /**
   * Reads or makes the trace. Blocks on file I/O.
   *
   * @return the trace
   * @throws TraceException if the file cannot be read or is no trace
   */
  public Trace load() throws TraceException {
    return file == null ? TraceGenerator.generate(requests, seed) : TraceReader.read(file);
  }

  Map<String, Object> encode() {
    Map<String, Object> map = new LinkedHashMap<>();
    if (file != null) map.put("file", file.toAbsolutePath().toString());
    map.put("requests", requests);
    map.put("seed", seed);
    return map;
  }

  static TraceSource decode(JsonFields fields) {
    return new TraceSource(fields.has("file") ? Path.of(fields.text("file")) : null,
        fields.number("requests").intValue(), fields.number("seed").longValue());
  }
}
