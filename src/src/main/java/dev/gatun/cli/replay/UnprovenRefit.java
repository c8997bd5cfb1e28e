package dev.gatun.cli.replay;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.WeightEpoch;
import java.time.Duration;
import java.util.List;

/**
 * A refit as it is often done: the gate, one removal, no look at the result. Only a control: with a fault added it shows
 * that the replay sees stale pages when the proof does not stand in their way.
 */
final class UnprovenRefit implements RefitDriver {
  // 30 s: as long as a proven refit may take
  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(30);

  private final EpochGate gate;
  private final RefitStore store;
  private long startNanos;
  private long removed;

  UnprovenRefit(EpochGate gate, RefitStore store) {
    this.gate = gate;
    this.store = store;
  }

  @Override
  public void begin(WeightEpoch next) {
    startNanos = System.nanoTime();
    gate.close();
    gate.raise(next);
    Deadline deadline = Deadline.after(DRAIN_LIMIT);
    gate.awaitDrained(deadline);
    gate.drainParts(deadline);
    for (Quiescable part : gate.parts())
      part.clearLocal();
  }

  @Override
  public void clear() {
    removed = Math.max(0, store.removeAllForced());
  }

  @Override
  public RefitSummary end() {
    gate.open(EpochGate.State.OPEN);
    return new RefitSummary("UNPROVEN", true, removed, 0, System.nanoTime() - startNanos,
        List.of("the proof is switched off"));
  }
}
