package dev.gatun.internal.backend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCensus;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/**
 * The census of a Mooncake master, over its administration's HTTP.
 *
 * <p>Puts are counted as the master counts them: single requests plus keys of batch requests, refused ones included;
 * upserts and multi-part puts of other clients count as puts (measured with 0.3.13).
 *
 * <p>A master does not publish when it started. Its counters begin at 0 and only grow, so a reading in which any of them
 * is lower than before proves a restart; so does another leadership view. What this cannot see, a restart after which
 * every counter has caught up, shows in the counters of puts themselves.
 */
final class MasterCensus implements StoreCensus, AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern VIEW = Pattern.compile("\"view_version\"\\s*:\\s*\"?(?!null)([^,\"}\\s]+)");

  private final MasterAdmin admin;
  private Map<String, Long> counters = Map.of(); // guarded by this
  private int restarts; // guarded by this

  MasterCensus(String url, Duration timeout) {
    this.admin = new MasterAdmin(url, timeout, timeout);
  }

  @Override
  public synchronized Reading read(Deadline deadline) {
    String health = admin.get("/health", deadline);
    String role = admin.get("/role", deadline).strip();
    Map<String, Long> samples = PrometheusText.parse(admin.get("/metrics", deadline));
    noteRestart(samples);
    Matcher view = VIEW.matcher(health);
    String startId = admin.url() + (view.find() ? " view " + view.group(1) : "") + " restarts " + restarts;
    return new Reading(sample(samples, "master_key_count"), puts(samples, "start"), puts(samples, "end"),
        puts(samples, "revoke"), role, startId);
  }

  @Override
  public List<String> keys(int limit, Deadline deadline) {
    if (limit < 0) throw new IllegalArgumentException("limit must be 0 or more: " + limit);
    admin.requireMaster(deadline);
    return admin.lines("/get_all_keys", limit, deadline);
  }

  /** Only nodes that hold a file can remove it, and the master does not learn whether they did. */
  @Override
  public List<String> uncounted(Deadline deadline) {
    Map<String, Long> samples = PrometheusText.parse(admin.get("/metrics", deadline));
    long files = Math.max(samples.getOrDefault("master_total_file_capacity_bytes", 0L),
        samples.getOrDefault("master_allocated_file_size_bytes", 0L));
    return files == 0
        ? List.of()
        : List.of("the master keeps objects on disk as well: it forgets their keys, but does not see their files go");
  }

  @Override
  public OptionalLong largestSegmentBytes(Deadline deadline) {
    try {
      JsonNode segments = JSON.readTree(admin.get("/get_segments_detail", deadline)).path("segments");
      return StreamSupport.stream(segments.spliterator(), false).map(segment -> segment.path("size_bytes"))
          .filter(JsonNode::canConvertToLong).mapToLong(JsonNode::longValue).max();
    } catch (JsonProcessingException foreign) {
      return OptionalLong.empty(); // a version whose answer is another one
    }
  }

  @Override
  public String source() {
    return admin.url();
  }

  @Override
  public void close() {
    admin.close();
  }

  private void noteRestart(Map<String, Long> samples) {
    Map<String, Long> now = new HashMap<>(samples);
    now.keySet().removeIf(name -> !name.endsWith("_requests_total") && !name.endsWith("_items_total"));
    if (counters.entrySet().stream().anyMatch(old -> now.getOrDefault(old.getKey(), 0L) < old.getValue())) restarts++;
    counters = now;
  }

  private long puts(Map<String, Long> samples, String step) {
    return sample(samples, "master_put_" + step + "_requests_total")
        + sample(samples, "master_batch_put_" + step + "_items_total");
  }

  private long sample(Map<String, Long> samples, String name) {
    Long value = samples.get(name);
    if (value != null) return value;
    throw new GatunException(admin.url() + "/metrics has no " + name + ": this is no Mooncake master of a version "
        + "that Gatun knows, so a removal cannot be verified");
  }
}
