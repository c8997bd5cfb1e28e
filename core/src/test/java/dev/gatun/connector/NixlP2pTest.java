package dev.gatun.connector;

import dev.gatun.backend.EngineOptions;
import dev.gatun.internal.backend.NixlTestRuntime;
import org.junit.jupiter.api.Tag;

@Tag("nixl")
class NixlP2pTest extends P2pContract {
  @Override
  EngineOptions engine() {
    return NixlTestRuntime.options();
  }
}
