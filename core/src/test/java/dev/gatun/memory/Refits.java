package dev.gatun.memory;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;

/** What a refit does to a gate and its parts, without a store. */
final class Refits {
  private Refits() {}

  static EpochGate gate() {
    return new EpochGate(new WeightEpoch("test", 0));
  }

  /** Raises the epoch, but does not call the parts. */
  static void raise(EpochGate gate) {
    gate.close();
    gate.raise(new WeightEpoch("test", gate.epoch().version() + 1));
    gate.open(EpochGate.State.OPEN);
  }

  /** Raises the epoch and has every part clear its local state. */
  static void refit(EpochGate gate) {
    gate.close();
    gate.raise(new WeightEpoch("test", gate.epoch().version() + 1));
    for (Quiescable part : gate.parts())
      part.clearLocal();
    gate.open(EpochGate.State.OPEN);
  }
}
