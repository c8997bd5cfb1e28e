package dev.gatun.internal.backend;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;
import org.junit.jupiter.api.Tag;

@Tag("mooncake")
class MooncakeStoreBackendTest extends StoreBackendContract {
  @Override
  StoreOptions options() {
    return MooncakeTestRuntime.shared().pureClient().build();
  }

  @Override
  StoreBackend open(StoreOptions options) {
    return new MooncakeBackendProvider().open(options);
  }
}
