package dev.gatun.connector;

import java.util.Set;

/** The names that {@code kv_connector} takes. */
final class ConnectorNames {
  static final String STORE = "MooncakeStoreConnector";
  static final String MOONCAKE = "MooncakeConnector";
  static final String NIXL = "NixlConnector";
  static final String NIXL_PULL = "NixlPullConnector";
  static final String MULTI = "MultiConnector";

  /** Connectors to a store, which may stand beside a P2P connector. */
  static final Set<String> STORES = Set.of(STORE, "FlexKVConnectorV1", "HF3FSKVConnector", "LMCacheConnectorV1",
      "LMCacheMPConnector", "OffloadingConnector", "SimpleCPUOffloadConnector");

  /** What vLLM 0.32 registers; any other name needs the path of its Python module. */
  static final Set<String> REGISTERED = Set.of("DecodeBenchConnector", "ExampleConnector",
      "ExampleHiddenStatesConnector", "FlexKVConnectorV1", "HF3FSKVConnector", "HiSparseConnector",
      "LMCacheConnectorV1", "LMCacheMPConnector", "MoRIIOConnector", MOONCAKE, STORE, MULTI, NIXL, NIXL_PULL,
      "NixlPushConnector", "OffloadingConnector", "SimpleCPUOffloadConnector");

  private ConnectorNames() {}
}
