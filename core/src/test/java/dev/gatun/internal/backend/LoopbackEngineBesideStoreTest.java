package dev.gatun.internal.backend;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;

class LoopbackEngineBesideStoreTest extends EngineBesideStoreContract {
  @Override
  StoreBackend open() {
    return new LoopbackBackendProvider().open(StoreOptions.loopback("beside", 32L << 20));
  }
}
