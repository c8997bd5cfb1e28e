package dev.gatun.fleet;

import java.net.Inet6Address;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * One inference engine of a fleet, at its own address: behind a router's address nobody knows which engine acts.
 *
 * @param url {@code http://host:port} of its API server, no path
 * @param kind which server it is
 * @param mode how it shares its GPUs with the trainer
 * @param rank rank of its node among the nodes of this engine; on any other than 0 there is nothing to do, since the
 *     first node acts for all
 * @param tags what to wake, in {@link RolloutMode#HYBRID} only; empty for the default, weights and KV cache
 */
public record FleetEngine(URI url, EngineKind kind, RolloutMode mode, int rank, List<String> tags) {
  private static final Set<String> FIELDS = Set.of("url", "kind", "mode", "rank", "tags");
  private static final List<String> TAGS = List.of("weights", "kv_cache", "scheduling");
  // no engine spans more nodes; unmeasured
  private static final int RANK_MAX = 65_535;

  /** Checks the address, the rank and the tags. */
  public FleetEngine {
    url = checked("url", url.toString());
    if (rank < 0 || rank > RANK_MAX) throw new IllegalArgumentException("rank must be 0 to " + RANK_MAX + ": " + rank);
    tags = List.copyOf(tags);
    requireTags("tags", mode, tags);
  }

  static FleetEngine of(FleetFields fields) {
    fields.requireKnown(FIELDS);
    RolloutMode mode = fields.choice("mode", RolloutMode.STANDALONE, RolloutMode.class);
    List<String> tags = fields.texts("tags");
    requireTags(fields.name("tags"), mode, tags);
    return new FleetEngine(checked(fields.name("url"), fields.required("url", "http://host:port")),
        fields.choice("kind", EngineKind.VLLM, EngineKind.class), mode, fields.integer("rank", 0, 0, RANK_MAX), tags);
  }

  /** {@return whether anything is sent to it} */
  boolean acts() {
    return rank == 0;
  }

  /** One text for all ways to write the same address. */
  String address() {
    String host = url.getHost().toLowerCase(Locale.ROOT);
    String same = host.startsWith("[")
        ? Inet6Address.ofLiteral(host.substring(1, host.length() - 1)).getHostAddress()
        : host;
    int usual = "https".equals(url.getScheme()) ? 443 : 80;
    return url.getScheme() + ' ' + same + ' ' + (url.getPort() < 0 ? usual : url.getPort());
  }

  List<String> wakeTags() {
    return tags.isEmpty() ? List.of("weights", "kv_cache") : tags;
  }

  private static void requireTags(String field, RolloutMode mode, List<String> tags) {
    if (!tags.isEmpty() && mode != RolloutMode.HYBRID) {
      throw new IllegalArgumentException(field + " must be absent unless mode is hybrid, since " + mode.name()
          .toLowerCase(Locale.ROOT) + " engines are woken with the default tags or never: " + tags);
    }
    for (String tag : tags) {
      if (!TAGS.contains(tag)) {
        throw new IllegalArgumentException(field + " must be of " + String.join(", ", TAGS) + ": \"" + tag + '"');
      }
    }
  }

  private static URI checked(String field, String text) {
    String plain = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    try {
      URI uri = URI.create(plain);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      boolean bare = uri.getHost() != null && String.valueOf(uri.getPath()).isEmpty() && uri.getQuery() == null
          && uri.getFragment() == null && uri.getUserInfo() == null;
      if (http && bare && uri.getPort() != 0 && uri.getPort() <= 65_535) return uri;
    } catch (IllegalArgumentException malformed) {
      // refused below like any other text
    }
    throw new IllegalArgumentException(field + " must be http://host:port or https://host:port, without a path or "
        + "credentials: \"" + text.replaceAll("//.*@", "//...@") + '"');
  }
}
