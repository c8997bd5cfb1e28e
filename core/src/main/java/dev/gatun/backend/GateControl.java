package dev.gatun.backend;

/** The right to close, raise and open one gate; handed out once, by {@link EpochGate#claim}. Usable by any thread. */
public final class GateControl {
  private final EpochGate gate;

  GateControl(EpochGate gate) {
    this.gate = gate;
  }

  /** {@return the gate} */
  public EpochGate gate() {
    return gate;
  }

  /** Closes the gate: nobody new enters. Idempotent; does not wait for those inside. */
  public void close() {
    gate.closeClaimed();
  }

  /**
   * Raises the epoch, with the gate closed. It never goes back, not even through another run.
   *
   * @param next an epoch that {@link EpochGate#checkNext} accepts
   * @throws IllegalStateException if the gate is not closed, or was raised 8,388,607 times
   * @throws IllegalArgumentException if {@code next} does not follow
   */
  public void raise(WeightEpoch next) {
    gate.raiseClaimed(next);
  }

  /**
   * Opens the gate, fully or with the store disabled.
   *
   * @param to {@link EpochGate.State#OPEN} or {@link EpochGate.State#DISABLED}
   * @throws IllegalArgumentException for {@link EpochGate.State#CLOSED}
   */
  public void open(EpochGate.State to) {
    gate.openClaimed(to);
  }
}
