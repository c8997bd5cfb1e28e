package dev.gatun.transfer;

import dev.gatun.backend.EngineOptions;
import dev.gatun.internal.backend.LoopbackControls;

/** The embedded library. */
final class LoopbackTransferSubject implements TransferSubject {
  @Override
  public EngineOptions options() {
    return EngineOptions.loopback();
  }

  @Override
  public boolean controlled() {
    return true;
  }

  @Override
  public void prepare() {
    LoopbackControls.reset();
  }
}
