package dev.gatun.transfer;

import dev.gatun.backend.EngineOptions;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import java.time.Duration;

/** Mooncake's engine over TCP. */
final class MooncakeTransferSubject implements TransferSubject {
  @Override
  public EngineOptions options() {
    MooncakeTestRuntime.runtime();
    return EngineOptions.mooncake("127.0.0.1").withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(30));
  }

  @Override
  public boolean controlled() {
    return false;
  }

  @Override
  public void prepare() {}
}
