package dev.gatun.transfer;

import dev.gatun.backend.EngineOptions;
import dev.gatun.internal.backend.NixlTestRuntime;

/** NIXL over UCX: shared memory of this host, and TCP. */
final class NixlTransferSubject implements TransferSubject {
  @Override
  public EngineOptions options() {
    return NixlTestRuntime.options();
  }

  @Override
  public boolean controlled() {
    return false;
  }

  @Override
  public void prepare() {}
}
