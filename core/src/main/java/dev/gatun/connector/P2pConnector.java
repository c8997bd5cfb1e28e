package dev.gatun.connector;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The two connectors that move KV from a prefill engine to a decode engine. */
public enum P2pConnector {
  /** Prefill pushes; who prefill is, decode learns from a bootstrap server. */
  MOONCAKE(ConnectorNames.MOONCAKE, "mooncake", "VLLM_MOONCAKE_BOOTSTRAP_PORT"),
  /** Decode pulls; what and where from, prefill's answer says. */
  NIXL(ConnectorNames.NIXL, "nixl", "VLLM_NIXL_SIDE_CHANNEL_PORT");

  private static final String NAMES = ConnectorNames.NIXL + " or " + ConnectorNames.MOONCAKE;

  private final String connector;
  private final String routerName;
  private final String portVariable;

  P2pConnector(String connector, String routerName, String portVariable) {
    this.connector = connector;
    this.routerName = routerName;
    this.portVariable = portVariable;
  }

  /** {@return the connector's name in {@code kv_connector}} */
  public String connectorName() {
    return connector;
  }

  /** {@return the connector's name in vllm-router's {@code kv_connector}} */
  public String routerName() {
    return routerName;
  }

  /** {@return the environment variable that tells a vLLM engine its port, see {@link BootstrapPorts}} */
  public String portVariable() {
    return portVariable;
  }

  /**
   * Finds the connector between processes: it stands alone, or as the only one in a {@code MultiConnector} beside any
   * number of store connectors.
   *
   * @param config of an engine
   * @return which it is
   * @throws IllegalArgumentException if there is none, more than one, or a connector that is neither that nor a store,
   *     naming the field
   */
  public static P2pConnector of(KvTransferConfig config) {
    return of("", config);
  }

  static P2pConnector of(String path, KvTransferConfig config) {
    String prefix = path.isEmpty() ? "" : path + '.';
    if (!config.connectors().isEmpty())
      return among(prefix + "kv_connector_extra_config.connectors", config.connectors());
    P2pConnector found = named(config);
    if (found != null) return found;
    throw refused(prefix + "kv_connector", NAMES + ", or a MultiConnector with exactly one of them",
        config.kvConnector().orElse(null));
  }

  private static P2pConnector among(String path, List<KvTransferConfig> children) {
    P2pConnector found = null;
    for (int i = 0; i < children.size(); i++) {
      String name = children.get(i).kvConnector().orElse("");
      String field = path + '[' + i + "].kv_connector";
      P2pConnector here = named(children.get(i));
      if (here == null) {
        if (ConnectorNames.STORES.contains(name)) continue;
        throw refused(field, NAMES + ", or a store connector", name);
      }
      if (found != null) throw refused(field, "a store connector, since a child before it moves KV", name);
      found = here;
    }
    if (found != null) return found;
    throw new IllegalArgumentException(path + " must have one of " + NAMES + " among them: "
        + children.stream().map(child -> child.kvConnector().orElse("")).toList());
  }

  /**
   * {@return the environment that makes a vLLM engine use a port}
   *
   * @param port from {@link BootstrapPorts}
   */
  public Map<String, String> environment(int port) {
    return Map.of(portVariable, Integer.toString(port));
  }

  private static @Nullable P2pConnector named(KvTransferConfig config) {
    String name = config.kvConnector().orElse("");
    return Arrays.stream(values()).filter(each -> each.connector.equals(name)).findFirst().orElse(null);
  }

  private static IllegalArgumentException refused(String field, String allowed, @Nullable String value) {
    return new IllegalArgumentException(field + " must be " + allowed + ": " + PlainValues.shown(value));
  }
}
