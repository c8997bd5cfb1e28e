package dev.gatun.connector;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kinds of options that vllm-router 0.1.17 has on its command line, and how each is read and written. */
enum RouterOption {
  TEXT,
  WHOLE,
  NUMBER,
  FLAG,
  /** Several words after one option. */
  WORDS,
  /** The option once for each word. */
  REPEATED;

  private static final Map<String, RouterOption> BY_NAME = byName();
  private static final Set<String> POLICIES = Set.of("random", "round_robin", "cache_aware", "kv_aware", "power_of_two",
      "consistent_hash", "sticky_least_loaded");
  private static final Set<String> LEVELS = Set.of("debug", "info", "warning", "error", "critical");
  private static final Set<String> PORTS = Set.of("port", "service_discovery_port", "prometheus_port");

  static Set<String> names() {
    return BY_NAME.keySet();
  }

  static @Nullable RouterOption of(String name) {
    return BY_NAME.get(name);
  }

  /** The checked value of a field. */
  Object read(Fields fields, String name) {
    return switch (this) {
      case TEXT -> choice(fields, name, fields.word(name, ""));
      case WHOLE -> PORTS.contains(name)
          ? fields.integer(name, 1, 1, 65_535)
          : fields.integer(name, 0, 0, Long.MAX_VALUE);
      case NUMBER -> fields.number(name);
      case FLAG -> fields.bool(name, false);
      case WORDS, REPEATED -> {
        Fields words = fields.elements(name);
        yield words.values().keySet().stream().map(word -> words.word(word, "")).toList();
      }
    };
  }

  /** The words that pass a value on the command line. */
  List<String> words(String name, Object value) {
    // the one option that is spelled otherwise than its field
    String option = "--" + (name.equals("wasm_middleware_routes") ? "wasm-middleware-route" : name.replace('_', '-'));
    return switch (this) {
      case FLAG -> Boolean.TRUE.equals(value) ? List.of(option) : List.of();
      case WORDS -> Stream.concat(Stream.of(option), ((List<?>) value).stream().map(String::valueOf)).toList();
      case REPEATED -> ((List<?>) value).stream().flatMap(word -> Stream.of(option, String.valueOf(word))).toList();
      case TEXT, WHOLE, NUMBER -> List.of(option, value.toString());
    };
  }

  private static String choice(Fields fields, String name, String text) {
    Set<String> choices = Map.of("policy", POLICIES, "prefill_policy", POLICIES, "decode_policy", POLICIES, "log_level",
        LEVELS).get(name);
    if (choices == null || choices.contains(text)) return text;
    throw fields.refused(name, "must be one of " + String.join(", ", choices.stream().sorted().toList()));
  }

  private static Map<String, RouterOption> byName() {
    Map<RouterOption, List<String>> names = Map.of(
        TEXT, List.of("host", "policy", "prefill_policy", "decode_policy", "kv_event_model", "wasm_middleware",
            "wasm_middleware_sha256", "api_key", "log_dir", "log_level", "service_discovery_namespace",
            "vllm_discovery_address", "program_scheduling_config_json", "prometheus_host", "health_check_endpoint"),
        WHOLE, List.of("port", "kv_aware_session_affinity_ttl_secs", "kv_event_block_size",
            "worker_startup_timeout_secs", "worker_startup_check_interval", "balance_abs_threshold",
            "eviction_interval_secs", "max_tree_size", "max_payload_size", "intra_node_data_parallel_size",
            "service_discovery_port", "prometheus_port", "request_timeout_secs", "max_concurrent_requests",
            "queue_size",
            "queue_timeout_secs", "rate_limit_tokens_per_second", "retry_max_retries", "retry_initial_backoff_ms",
            "retry_max_backoff_ms", "health_failure_threshold", "health_success_threshold", "health_check_timeout_secs",
            "health_check_interval_secs", "cb_failure_threshold", "cb_success_threshold", "cb_timeout_duration_secs",
            "cb_window_duration_secs"),
        NUMBER, List.of("router_temperature", "kv_penalty_host", "kv_penalty_external", "kv_penalty_disk",
            "cache_threshold", "balance_rel_threshold", "retry_backoff_multiplier", "retry_jitter_factor"),
        FLAG, List.of("enable_igw", "service_discovery", "enable_program_scheduling", "disable_retries",
            "disable_circuit_breaker"),
        WORDS, List.of("request_id_headers", "cors_allowed_origins"),
        REPEATED, List.of("pd_kv_events", "kv_event_source", "kv_event_replay_source", "wasm_middleware_routes"));
    Map<String, RouterOption> table = new TreeMap<>();
    names.forEach((option, fields) -> fields.forEach(name -> table.put(name, option)));
    return table;
  }
}
