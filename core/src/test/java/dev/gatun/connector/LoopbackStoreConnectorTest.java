package dev.gatun.connector;

import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackControls;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

class LoopbackStoreConnectorTest extends StoreConnectorContract {
  private final String pool = "connector-" + UUID.randomUUID();

  @BeforeEach
  @AfterEach
  void calm() {
    LoopbackControls.reset();
  }

  @Override
  StoreOptions options() {
    return StoreOptions.loopback(pool, 16L << 20);
  }
}
