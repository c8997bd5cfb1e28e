package dev.gatun.bench;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.DeviceSlab;
import dev.gatun.memory.Slab;
import dev.gatun.transfer.TransferEngine;

/** An agent of NIXL with the memory of a cache on a GPU, which stays the caller's. */
final class NixlCache implements AutoCloseable {
  private final EpochGate gate = new EpochGate(new WeightEpoch("bench", 0));
  private final Slab slab;
  private final TransferEngine engine;

  NixlCache(String side, DeviceSlab memory) {
    slab = memory.asSlab(side);
    try {
      engine = TransferEngine.open(options(side), gate);
    } catch (RuntimeException | Error e) {
      slab.close();
      throw e;
    }
    try {
      engine.register(slab);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** {@return options of an agent that no other process has} */
  static EngineOptions options(String side) {
    return EngineOptions.nixl("push-" + side + '-' + ProcessHandle.current().pid());
  }

  Slab slab() {
    return slab;
  }

  EpochGate gate() {
    return gate;
  }

  TransferEngine engine() {
    return engine;
  }

  @Override
  public void close() {
    engine.close();
    slab.close();
  }
}
