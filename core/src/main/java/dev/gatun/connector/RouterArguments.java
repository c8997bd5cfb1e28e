package dev.gatun.connector;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Arguments of vllm-router 0.1.17 for engines that prefill and decode: as the fields of its {@code RouterArgs} and as its
 * command line. Each prefill server of Mooncake is paired with its bootstrap port, without which the router would let
 * decode compute everything anew and say nothing. Immutable.
 */
public final class RouterArguments {
  private static final Set<String> SCHEMES = Set.of("http", "https", "grpc");
  private static final Set<String> DECIDED = Set.of("worker_urls", "prefill_urls", "decode_urls",
      "vllm_pd_disaggregation", "kv_connector", "mini_lb");
  // as SkyRL has it: a prompt's later turns find the engine that has its prefix
  private static final String POLICY = "consistent_hash";

  private final P2pConnector p2p;
  private final List<String> prefillUrls;
  private final List<Integer> bootstrapPorts;
  private final List<String> decodeUrls;
  private final Map<String, Object> options;

  private RouterArguments(P2pConnector p2p, List<String> prefillUrls, List<Integer> bootstrapPorts,
      List<String> decodeUrls, Map<String, Object> options) {
    this.p2p = p2p;
    this.prefillUrls = prefillUrls;
    this.bootstrapPorts = bootstrapPorts;
    this.decodeUrls = decodeUrls;
    this.options = options;
  }

  /**
   * Pairs servers and ports.
   *
   * @param p2p what moves KV
   * @param prefillUrls of every prefill server
   * @param bootstrapPorts one for each of them with Mooncake, none with NIXL
   * @param decodeUrls of every decode server
   * @return the arguments, with {@code consistent_hash} as the policy of both roles
   * @throws IllegalArgumentException naming the list that is empty, the URL or port that is none, or the counts that do
   *     not match
   */
  public static RouterArguments prefillDecode(P2pConnector p2p, List<String> prefillUrls, int[] bootstrapPorts,
      List<String> decodeUrls) {
    requireUrls("prefillUrls", prefillUrls);
    requireUrls("decodeUrls", decodeUrls);
    int ports = p2p == P2pConnector.MOONCAKE ? prefillUrls.size() : 0;
    if (bootstrapPorts.length != ports) {
      throw new IllegalArgumentException("bootstrapPorts must be " + (ports == 0
          ? "none with NIXL"
          : "one for each of "
              + ports + " prefillUrls")
          + ": " + Arrays.toString(bootstrapPorts));
    }
    List<Integer> checked = Arrays.stream(bootstrapPorts).boxed().toList();
    for (int i = 0; i < ports; i++) {
      if (checked.get(i) < 1 || checked.get(i) > 65_535) {
        throw new IllegalArgumentException("bootstrapPorts[" + i + "] must be 1 to 65535: " + checked.get(i));
      }
    }
    return new RouterArguments(p2p, List.copyOf(prefillUrls), checked, List.copyOf(decodeUrls), new LinkedHashMap<>())
        .with(Map.of("policy", POLICY)).with(Map.of("prefill_policy", POLICY)).with(Map.of("decode_policy", POLICY));
  }

  /**
   * {@return these arguments with others changed or added}
   *
   * @param changes by the names of {@code RouterArgs}: {@code host}, {@code port}, {@code policy}, ...
   * @throws IllegalArgumentException naming one that the router has not, that is of another type, or that is decided by
   *     what is paired here
   */
  public RouterArguments with(Map<String, ? extends @Nullable Object> changes) {
    return with("", changes);
  }

  RouterArguments with(String path, Map<String, ? extends @Nullable Object> changes) {
    Fields fields = Fields.of(path, changes);
    fields.requireKnown(Stream.concat(RouterOption.names().stream(), DECIDED.stream()).toList());
    Map<String, Object> changed = new LinkedHashMap<>(options);
    for (String name : fields.values().keySet()) {
      RouterOption option = RouterOption.of(name);
      if (option == null) throw fields.refused(name, "must be absent, since the servers decide it");
      changed.put(name, option.read(fields, name));
    }
    return new RouterArguments(p2p, prefillUrls, bootstrapPorts, decodeUrls, changed);
  }

  /** {@return the fields of {@code RouterArgs} that differ from its defaults; a prefill URL is a list with its port or null} */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("vllm_pd_disaggregation", true);
    map.put("kv_connector", p2p.routerName());
    List<List<@Nullable Object>> pairs = new ArrayList<>();
    for (int i = 0; i < prefillUrls.size(); i++)
      pairs.add(Collections.unmodifiableList(Arrays.asList(prefillUrls.get(i), port(i))));
    map.put("prefill_urls", Collections.unmodifiableList(pairs));
    map.put("decode_urls", decodeUrls);
    map.putAll(options);
    return Collections.unmodifiableMap(map);
  }

  /** {@return {@link #toMap} as one JSON object} */
  public String toJson() {
    return ConfigJson.text(toMap());
  }

  /** {@return the words that follow {@code vllm-router} on a command line} */
  public List<String> commandLine() {
    List<String> words = new ArrayList<>(List.of("--vllm-pd-disaggregation", "--kv-connector", p2p.routerName()));
    for (int i = 0; i < prefillUrls.size(); i++) {
      Integer port = port(i);
      words.addAll(List.of("--prefill", prefillUrls.get(i), port == null ? "none" : port.toString()));
    }
    decodeUrls.forEach(url -> words.addAll(List.of("--decode", url)));
    options.forEach((name, value) -> {
      RouterOption option = RouterOption.of(name);
      if (option != null) words.addAll(option.words(name, value));
    });
    return List.copyOf(words);
  }

  private @Nullable Integer port(int index) {
    return bootstrapPorts.isEmpty() ? null : bootstrapPorts.get(index);
  }

  private static void requireUrls(String field, List<String> urls) {
    if (urls.isEmpty()) throw new IllegalArgumentException(field + " must not be empty: []");
    for (int i = 0; i < urls.size(); i++) {
      String url = urls.get(i);
      if (!isServer(url)) {
        throw new IllegalArgumentException(
            field + '[' + i + "] must be http://host:port, https:// or grpc://: " + PlainValues.shown(url));
      }
    }
  }

  private static boolean isServer(String url) {
    try {
      URI uri = new URI(url);
      return uri.getScheme() != null && SCHEMES.contains(uri.getScheme()) && uri.getHost() != null;
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
