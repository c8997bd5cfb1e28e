package dev.gatun.transfer;

import org.junit.jupiter.api.Tag;

@Tag("mooncake")
class MooncakeTransferContractTest extends TransferContract {
  @Override
  TransferSubject subject() {
    return new MooncakeTransferSubject();
  }
}
