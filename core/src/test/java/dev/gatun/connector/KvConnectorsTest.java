package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.StoreOptions;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KvStore;
import dev.gatun.testing.Thrown;
import dev.gatun.transfer.TransferEngine;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From a configuration to the connector that it names. */
class KvConnectorsTest {
  private static final Map<String, Object> STORE = Map.of("kv_connector", "MooncakeStoreConnector", "kv_role",
      "kv_both");
  private static final Map<String, Object> PULL = Map.of("kv_connector", "NixlPullConnector", "kv_role", "kv_both");

  private final EpochGate gate = new EpochGate(Site.epoch(1));
  private final KvStore store = KvStore.open(StoreOptions.loopback("connectors-" + UUID.randomUUID(), 16L << 20),
      Site.PLAIN, gate, Observer.NONE);
  private final TransferEngine engine = TransferEngine.open(EngineOptions.loopback(), gate);
  private final KvConnectors none = KvConnectors
      .over(new RefitCoordinator(gate, List.of(store.refitPort()), RefitPolicy.DEFAULT, Observer.NONE));
  private final KvConnectors both = none.withStore(store, 4096).withEngine(engine, P2pOptions.loopback("test model"));

  @AfterEach
  void close() {
    engine.close();
    store.close();
  }

  private static KvTransferConfig multi(List<Map<String, Object>> children) {
    return KvTransferConfig.builder().connectors(children).kvRole(KvRole.BOTH).build();
  }

  @ParameterizedTest
  @CsvSource({"MooncakeStoreConnector, StoreConnector", "MooncakeConnector, MooncakeConnector",
      "NixlConnector, NixlConnector", "NixlPullConnector, NixlConnector"})
  @DisplayName("S1.1 the connector that a configuration names is opened, under each of its names")
  void single(String named, String opened) {
    try (KvConnector connector = both.open(KvTransferConfig.builder().kvConnector(named).kvRole(KvRole.BOTH).build())) {
      assertEquals(opened, connector.name());
    }
  }

  @Test
  @DisplayName("S1.1 a multi connector is opened with its children, in order")
  void joined() {
    try (KvConnector connector = both.open(multi(List.of(PULL, STORE)))) {
      assertEquals(List.of("NixlConnector", "StoreConnector"),
          assertInstanceOf(MultiConnector.class, connector).children().stream().map(KvConnector::name).toList());
    }
  }

  @Test
  @DisplayName("what cannot be opened is refused by its field, before anything is opened")
  void refused() {
    List<Quiescable> parts = gate.parts();
    assertEquals("kv_connector must be one that can be opened here, [MooncakeConnector, MooncakeStoreConnector, "
        + "NixlConnector, NixlPullConnector], or a MultiConnector of these: \"\"",
        refusal(both, KvTransferConfig.builder().build()));
    assertEquals("kv_connector must be one that can be opened here, [], or a MultiConnector of these: "
        + "\"MooncakeStoreConnector\"", refusal(none, KvTransferConfig.from(STORE)));
    assertEquals("kv_connector_extra_config.connectors[1].kv_connector must be one that can be opened here, "
        + "[MooncakeStoreConnector], or a MultiConnector of these: \"NixlPullConnector\"",
        refusal(none.withStore(store, 4096), multi(List.of(STORE, PULL))));
    assertEquals("kv_connector_module_path must be absent, since it names Python: \"a.b\"",
        refusal(both, KvTransferConfig.builder().kvConnector("Mine").modulePath("a.b").kvRole(KvRole.BOTH).build()));
    assertEquals(parts, gate.parts());
  }

  private static String refusal(KvConnectors connectors, KvTransferConfig config) {
    return Thrown.message(IllegalArgumentException.class, () -> connectors.open(config));
  }
}
