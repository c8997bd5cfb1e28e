package dev.gatun.internal.backend;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;

class LoopbackStoreBackendTest extends StoreBackendContract {
  @Override
  StoreOptions options() {
    return StoreOptions.loopback("contract", 64L << 20);
  }

  @Override
  StoreBackend open(StoreOptions options) {
    return new LoopbackBackendProvider().open(options);
  }
}
