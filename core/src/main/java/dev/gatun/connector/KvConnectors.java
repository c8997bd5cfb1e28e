package dev.gatun.connector;

import dev.gatun.refit.RefitCoordinator;
import dev.gatun.store.KvStore;
import dev.gatun.transfer.TransferEngine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Opens connectors by their configuration: what a host has, a store or an engine, is given once, and a
 * {@link KvTransferConfig} names what is made of it. Immutable; usable by any thread.
 */
public final class KvConnectors {
  private final RefitCoordinator coordinator;
  private final Map<String, Function<KvTransferConfig, KvConnector>> kinds;

  private KvConnectors(RefitCoordinator coordinator, Map<String, Function<KvTransferConfig, KvConnector>> kinds) {
    this.coordinator = coordinator;
    this.kinds = kinds;
  }

  /**
   * {@return a start with neither a store nor an engine}
   *
   * @param coordinator of the gate that all share: runs the refit behind each reset
   */
  public static KvConnectors over(RefitCoordinator coordinator) {
    return new KvConnectors(coordinator, Map.of());
  }

  /**
   * {@return the same, able to open a {@code MooncakeStoreConnector}}
   *
   * @param store stays the caller's, and outlives the connectors
   * @param pageBytes bytes a page, above 0
   */
  public KvConnectors withStore(KvStore store, long pageBytes) {
    return with(Map.of(ConnectorNames.STORE,
        config -> StoreConnector.open(store, coordinator, StoreTransferOptions.of(config, pageBytes))));
  }

  /**
   * {@return the same, able to open a {@code MooncakeConnector} or a {@code NixlConnector}, one of them}
   *
   * @param engine stays the caller's, and is closed after the connector
   * @param options where to listen, how long to wait
   */
  public KvConnectors withEngine(TransferEngine engine, P2pOptions options) {
    Function<KvTransferConfig, KvConnector> pull = config -> NixlConnector.open(config, engine, coordinator, options);
    return with(Map.of(ConnectorNames.NIXL, pull, ConnectorNames.NIXL_PULL, pull, ConnectorNames.MOONCAKE,
        config -> MooncakeConnector.open(config, engine, coordinator, options)));
  }

  /**
   * Opens the connector that a configuration names, or several of them as one. Blocks as the connector's own
   * {@code open}, whose exceptions it throws.
   *
   * @param config says which, in what role, with which options
   * @return the connector; the caller closes it
   * @throws IllegalArgumentException naming the field, if it names no connector, one that Gatun has not, or one for which
   *     there is no store or engine here; nothing was opened
   */
  public KvConnector open(KvTransferConfig config) {
    require("", config);
    return opened(config);
  }

  private KvConnector opened(KvTransferConfig config) {
    if (!config.connectors().isEmpty()) return MultiConnector.of(config, this::opened);
    return kind("", config).apply(config);
  }

  private void require(String path, KvTransferConfig config) {
    List<KvTransferConfig> children = config.connectors();
    if (children.isEmpty()) kind(path, config);
    for (int i = 0; i < children.size(); i++)
      require(path + "kv_connector_extra_config.connectors[" + i + "].", children.get(i));
  }

  private Function<KvTransferConfig, KvConnector> kind(String path, KvTransferConfig config) {
    config.modulePath().ifPresent(module -> {
      throw new IllegalArgumentException(path + "kv_connector_module_path must be absent, since it names Python: "
          + PlainValues.shown(module));
    });
    String name = config.kvConnector().orElse("");
    Function<KvTransferConfig, KvConnector> kind = kinds.get(name);
    if (kind != null) return kind;
    Set<String> able = new TreeSet<>(kinds.keySet());
    throw new IllegalArgumentException(path + "kv_connector must be one that can be opened here, " + able
        + ", or a " + ConnectorNames.MULTI + " of these: " + PlainValues.shown(name));
  }

  private KvConnectors with(Map<String, Function<KvTransferConfig, KvConnector>> more) {
    Map<String, Function<KvTransferConfig, KvConnector>> all = new HashMap<>(kinds);
    all.putAll(more);
    return new KvConnectors(coordinator, Map.copyOf(all));
  }
}
