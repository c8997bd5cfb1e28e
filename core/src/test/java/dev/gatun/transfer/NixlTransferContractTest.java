package dev.gatun.transfer;

import org.junit.jupiter.api.Tag;

@Tag("nixl")
class NixlTransferContractTest extends TransferContract {
  @Override
  TransferSubject subject() {
    return new NixlTransferSubject();
  }
}
