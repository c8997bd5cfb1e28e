package dev.gatun.codec;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The key under which a vLLM engine with a {@code MooncakeStoreConnector} keeps a block:
 * {@code [prefix@]model[layout][@cfg:digest]@tp_rank:T@pcpP@dcpD@pp_rank:R@group:G@hash}.
 *
 * <p>It names neither weights nor element type: after a weight update the same keys mean stale pages. vLLM does not
 * escape what it puts in, so what would be read back as something else is refused here.
 *
 * @param cachePrefix {@code cache_prefix} of the connector, without {@code @}; empty for none
 * @param model last part of the path that the engine was started with, not the served name; with an {@code @} only behind
 *     a cache prefix, since its first part would pass for one
 * @param layout of a store shared by engines of several parallel sizes, beginning with {@code @store_}; empty for none,
 *     always empty before 0.32
 * @param config digest of the engine's settings, 12 hex digits; empty for none, as in all releases up to 0.33
 * @param tpRank tensor-parallel rank, divided by the number of ranks that hold the same heads
 * @param pcp prefill context-parallel rank
 * @param dcp decode context-parallel rank
 * @param ppRank pipeline-parallel rank
 * @param group index of the KV cache group
 * @param hash of the block, in lower-case hex
 */
public record VllmKey(String cachePrefix, String model, String layout, String config, int tpRank, int pcp, int dcp,
    int ppRank, int group, String hash) {
  private static final String LAYOUT = "@store_tp:\\d+@store_pp:\\d+@store_format:tp_shared_lb(?:hnc|nhc)"
      + "|@store_pp:\\d+@store_format:(?:tp_shared_mqa|rank_local_tp\\d+_layout_[A-Za-z0-9_]+)";
  private static final Pattern HEAD = Pattern.compile(
      "(?<scope>.+?)(?<layout>" + LAYOUT + ")?(?:@cfg:(?<config>[0-9a-f]{12}))?");
  private static final Pattern TAIL = Pattern.compile("@tp_rank:(\\d+)@pcp(\\d+)@dcp(\\d+)@pp_rank:(\\d+)@group:(\\d+)"
      + "@([0-9a-f]+)$");

  /** What stands left of the ranks, where a separator can be part of a name. */
  private record Head(String cachePrefix, String model, String layout, String config) {
    static Optional<Head> read(String text) {
      Matcher head = HEAD.matcher(text);
      if (!head.matches()) return Optional.empty();
      String scope = head.group("scope");
      int at = scope.indexOf('@');
      return Optional.of(new Head(at < 0 ? "" : scope.substring(0, at), scope.substring(at + 1),
          orEmpty(head.group("layout")), orEmpty(head.group("config"))));
    }

    private static String orEmpty(@Nullable String found) {
      return found == null ? "" : found;
    }

    String text() {
      return (cachePrefix.isEmpty() ? "" : cachePrefix + '@') + model + layout
          + (config.isEmpty() ? "" : "@cfg:" + config);
    }
  }

  /** Refuses what no engine writes, and what would be read back as another key. */
  public VllmKey {
    Text.printable("cachePrefix", cachePrefix);
    if (cachePrefix.indexOf('@') >= 0) {
      throw new IllegalArgumentException("cachePrefix must not contain @, which ends it: \"" + cachePrefix + '"');
    }
    Text.printable("model", Text.required("model", model));
    if (model.indexOf('/') >= 0) {
      throw new IllegalArgumentException("model must be the last part of the model's path: \"" + model + '"');
    }
    if (!layout.isEmpty() && !layout.matches(LAYOUT)) {
      throw new IllegalArgumentException("layout must be as vLLM writes it, such as "
          + "@store_pp:1@store_format:tp_shared_mqa: \"" + layout + '"');
    }
    if (!config.isEmpty() && !config.matches("[0-9a-f]{12}")) {
      throw new IllegalArgumentException("config must be 12 lower-case hex digits: \"" + config + '"');
    }
    Text.natural("tpRank", tpRank);
    Text.natural("pcp", pcp);
    Text.natural("dcp", dcp);
    Text.natural("ppRank", ppRank);
    Text.natural("group", group);
    Text.hash(hash);
    Head head = new Head(cachePrefix, model, layout, config);
    Text.key(head.text() + tail(tpRank, pcp, dcp, ppRank, group, hash));
    Head read = Head.read(head.text()).orElse(head);
    if (!read.equals(head)) {
      throw new IllegalArgumentException("model must not be such that its key is one of another model: \"" + model
          + "\" would be read as model \"" + read.model + "\" behind cache prefix \"" + read.cachePrefix + '"');
    }
  }

  /**
   * {@return a block of an engine without parallelism, prefix or layout}
   *
   * @param model see the record
   * @param hash see the record
   */
  public static VllmKey of(String model, String hash) {
    return new VllmKey("", model, "", "", 0, 0, 0, 0, 0, hash);
  }

  /**
   * {@return the same block behind a cache prefix}
   *
   * @param value see the record
   */
  public VllmKey withCachePrefix(String value) {
    return new VllmKey(value, model, layout, config, tpRank, pcp, dcp, ppRank, group, hash);
  }

  /**
   * {@return the part of the same block that another rank holds}
   *
   * @param tensor see the record
   * @param prefillContext see the record
   * @param decodeContext see the record
   * @param pipeline see the record
   */
  public VllmKey withRanks(int tensor, int prefillContext, int decodeContext, int pipeline) {
    return new VllmKey(cachePrefix, model, layout, config, tensor, prefillContext, decodeContext, pipeline, group,
        hash);
  }

  /**
   * {@return the same block in another KV cache group}
   *
   * @param index see the record
   */
  public VllmKey withGroup(int index) {
    return new VllmKey(cachePrefix, model, layout, config, tpRank, pcp, dcp, ppRank, index, hash);
  }

  /** {@return the key} */
  public String text() {
    return new Head(cachePrefix, model, layout, config).text() + tail(tpRank, pcp, dcp, ppRank, group, hash);
  }

  /**
   * {@return the key, if a release writes such keys}
   *
   * @param release of the engine
   * @throws IllegalArgumentException if it has a part that the release does not know
   */
  public String text(VllmRelease release) {
    if (!layout.isEmpty() && !release.storeLayouts()) {
      throw new IllegalArgumentException("layout must be empty for vLLM " + release.version() + ": \"" + layout + '"');
    }
    if (!config.isEmpty()) {
      throw new IllegalArgumentException("config must be empty for vLLM " + release.version() + ": \"" + config + '"');
    }
    return text();
  }

  /**
   * Reads a key from right to left, since a model's name may hold the separator. Whatever stands before the first
   * {@code @} of what is left is taken for the cache prefix.
   *
   * @param key any text
   * @return its parts; empty if it is no such key
   */
  public static Optional<VllmKey> parse(String key) {
    if (!Text.isKey(key)) return Optional.empty();
    Matcher tail = TAIL.matcher(key);
    if (!tail.find()) return Optional.empty();
    return Head.read(key.substring(0, tail.start())).flatMap(head -> Text.ifSound(
        () -> new VllmKey(head.cachePrefix, head.model, head.layout, head.config, Text.number(tail.group(1)),
            Text.number(tail.group(2)), Text.number(tail.group(3)), Text.number(tail.group(4)),
            Text.number(tail.group(5)), tail.group(6))))
        .filter(parsed -> parsed.text().equals(key));
  }

  /** {@return the ranks, as in {@code tp0 pp0}, context-parallel ones where they are not 0} */
  public String rank() {
    return "tp" + tpRank + " pp" + ppRank + (pcp == 0 ? "" : " pcp" + pcp) + (dcp == 0 ? "" : " dcp" + dcp);
  }

  private static String tail(int tpRank, int pcp, int dcp, int ppRank, int group, String hash) {
    return "@tp_rank:" + tpRank + "@pcp" + pcp + "@dcp" + dcp + "@pp_rank:" + ppRank + "@group:" + group + '@' + hash;
  }
}
