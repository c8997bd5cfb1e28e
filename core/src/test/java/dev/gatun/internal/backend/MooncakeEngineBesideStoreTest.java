package dev.gatun.internal.backend;

import dev.gatun.backend.StoreBackend;
import org.junit.jupiter.api.Tag;

@Tag("mooncake")
class MooncakeEngineBesideStoreTest extends EngineBesideStoreContract {
  @Override
  StoreBackend open() {
    return new MooncakeBackendProvider().open(MooncakeTestRuntime.shared().pureClient().build());
  }
}
