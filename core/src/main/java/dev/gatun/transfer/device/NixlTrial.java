package dev.gatun.transfer.device;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceSlab;
import dev.gatun.memory.Slab;
import dev.gatun.transfer.TransferEngine;

/** Finds out whether NIXL takes the memory of a GPU. */
public final class NixlTrial {
  private static final long TRIAL_BYTES = 2 << 20; // 2 MiB: the driver's own granule

  private NixlTrial() {}

  /**
   * Opens an engine, registers a little memory of the GPU, and closes both. Loads the library into this process. Blocks, a
   * second or so the first time.
   *
   * @param gpu its memory is tried
   * @param options of NIXL, under a name that no peer has
   * @return why NIXL cannot move memory of the GPU, in words; empty if it can
   */
  public static String missing(Device gpu, EngineOptions options) {
    EpochGate gate = new EpochGate(new WeightEpoch("trial", 0));
    try (DeviceSlab memory = gpu.allocate("trial", TRIAL_BYTES);
        Slab slab = memory.asSlab("trial");
        TransferEngine engine = TransferEngine.open(options, gate)) {
      engine.register(slab);
      return "";
    } catch (GatunException refused) {
      return String.valueOf(refused.getMessage());
    }
  }
}
