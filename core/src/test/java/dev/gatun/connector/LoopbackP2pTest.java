package dev.gatun.connector;

import dev.gatun.backend.EngineOptions;

class LoopbackP2pTest extends P2pContract {
  @Override
  EngineOptions engine() {
    return EngineOptions.loopback();
  }
}
