package dev.gatun.store;

import org.junit.jupiter.api.Tag;

@Tag("mooncake")
class MooncakeStoreContractTest extends StoreContract {
  @Override
  StoreContractSubject subject() {
    return new MooncakeSubject();
  }
}
