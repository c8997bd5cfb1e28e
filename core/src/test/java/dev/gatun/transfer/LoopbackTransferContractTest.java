package dev.gatun.transfer;

import dev.gatun.internal.backend.LoopbackControls;
import org.junit.jupiter.api.AfterEach;

class LoopbackTransferContractTest extends TransferContract {
  @Override
  TransferSubject subject() {
    return new LoopbackTransferSubject();
  }

  @AfterEach
  void reset() {
    LoopbackControls.reset();
  }
}
