package dev.gatun.connector;

import dev.gatun.backend.EngineOptions;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import org.junit.jupiter.api.Tag;

@Tag("mooncake")
class MooncakeP2pTest extends P2pContract {
  @Override
  EngineOptions engine() {
    MooncakeTestRuntime.runtime();
    return EngineOptions.mooncake("127.0.0.1");
  }
}
