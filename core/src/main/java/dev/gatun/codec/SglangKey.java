package dev.gatun.codec;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key under which SGLang's HiCache keeps one component of a page in Mooncake:
 * {@code name[_topology]_hash_ranks_component}.
 *
 * <p>The name is one part: SGLang joins tag and model by {@code _}, which both may hold, and replaces {@code /} by
 * {@code -}, so a key does not tell them apart, and neither does SGLang.
 *
 * @param name {@code extra_backend_tag}, if any, and the served model, see {@link #name(String, String)}
 * @param topology of decode-context parallelism, as {@code tp4_dcp2_page64_pp1_cp1}; empty without
 * @param hash of the page, 64 hex digits
 * @param ranks tensor rank, with pipeline parallelism {@code tensor_pipeline}; for models whose ranks hold the same, the
 *     pipeline rank, or empty; {@code dcp0_cp0} and pipeline rank with decode-context parallelism
 * @param component {@code k}, {@code v}, or what else the model keeps, such as {@code swa_k}, {@code temporal}
 */
public record SglangKey(String name, String topology, String hash, String ranks, String component) {
  private static final String TOPOLOGY = "tp\\d+_dcp\\d+_page\\d+_pp\\d+_cp\\d+";
  private static final String RANKS = "\\d+(?:_\\d+)?|dcp\\d+_cp\\d+(?:_\\d+)?|";
  private static final String COMPONENT = "k|v|temporal|indexer|conv_\\d+|[a-z][a-z0-9]*_[kv]";
  private static final Pattern FORM = Pattern.compile("(?<name>.+?)(?:_(?<topology>" + TOPOLOGY
      + "))?_(?<hash>[0-9a-f]{64})_(?<ranks>" + RANKS + ")_(?<component>" + COMPONENT + ")");
  private static final Pattern WARM_UP = Pattern.compile("sglang_mooncake_store_warmup_key[0-9a-f]+");

  /** Refuses what no engine writes, and what would be read back as another key. */
  public SglangKey {
    Text.printable("name", Text.required("name", name));
    if (name.indexOf('/') >= 0) {
      throw new IllegalArgumentException("name must have - where the model has /: \"" + name + '"');
    }
    if (!topology.isEmpty() && !topology.matches(TOPOLOGY)) {
      throw new IllegalArgumentException("topology must be like tp4_dcp2_page64_pp1_cp1: \"" + topology + '"');
    }
    if (!hash.matches("[0-9a-f]{64}")) {
      throw new IllegalArgumentException("hash must be 64 lower-case hex digits: \"" + hash + '"');
    }
    if (!ranks.matches(RANKS)) {
      throw new IllegalArgumentException("ranks must be like 0, 0_1, dcp0_cp0 or empty: \"" + ranks + '"');
    }
    if (!component.matches(COMPONENT)) {
      throw new IllegalArgumentException("component must be like k, v, swa_k, conv_0: \"" + component + '"');
    }
    Matcher form = FORM.matcher(Text.key(join(name, topology, hash, ranks, component)));
    if (!form.matches() || !form.group("name").equals(name)) {
      throw new IllegalArgumentException("name must not be such that its key is one of another name: \"" + name + '"');
    }
  }

  /**
   * {@return tag and model as SGLang joins them}
   *
   * @param tag {@code extra_backend_tag}; empty for none
   * @param model the served model, such as {@code Qwen/Qwen3-8B}
   */
  public static String name(String tag, String model) {
    return (tag.isEmpty() ? "" : tag + '_') + Text.required("model", model).replace('/', '-');
  }

  /** {@return the key} */
  public String text() {
    return join(name, topology, hash, ranks, component);
  }

  /**
   * Reads a key from right to left, since names hold the separator.
   *
   * @param key any text
   * @return its parts; empty if it is no such key
   */
  public static Optional<SglangKey> parse(String key) {
    Matcher form = FORM.matcher(key);
    if (!Text.isKey(key) || !form.matches()) return Optional.empty();
    String topology = form.group("topology");
    return Text.ifSound(() -> new SglangKey(form.group("name"), topology == null ? "" : topology, form.group("hash"),
        form.group("ranks"), form.group("component")));
  }

  /**
   * {@return whether it is one of the objects that an engine leaves in the store when it starts}
   *
   * @param key any text
   */
  public static boolean isWarmUp(String key) {
    return WARM_UP.matcher(key).matches();
  }

  private static String join(String name, String topology, String hash, String ranks, String component) {
    return name + (topology.isEmpty() ? "" : '_' + topology) + '_' + hash + '_' + ranks + '_' + component;
  }
}
