package dev.gatun.store;

import dev.gatun.internal.backend.LoopbackControls;
import org.junit.jupiter.api.AfterEach;

class LoopbackStoreContractTest extends StoreContract {
  @Override
  StoreContractSubject subject() {
    return new LoopbackSubject(0);
  }

  @AfterEach
  void reset() {
    LoopbackControls.reset();
  }
}
