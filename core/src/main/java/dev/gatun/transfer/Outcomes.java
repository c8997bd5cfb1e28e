package dev.gatun.transfer;

import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.TransferOutcome;
import java.util.Arrays;

/** How each request of a batch stands, by its place. Serves one thread at a time. */
final class Outcomes {
  private final TransferOutcome[] outcomes;
  private final long[] rawStatuses;

  Outcomes(int capacity) {
    outcomes = new TransferOutcome[capacity];
    rawStatuses = new long[capacity];
  }

  TransferOutcome get(int index) {
    return outcomes[index];
  }

  long rawStatus(int index) {
    return rawStatuses[index];
  }

  void fill(int count, TransferOutcome outcome) {
    Arrays.fill(outcomes, 0, count, outcome);
  }

  /** Takes over how a flight's requests stand; what a refit has overtaken is of no use any more. */
  void take(EngineFlight flight, int count, boolean current) {
    for (int i = 0; i < count; i++) {
      outcomes[i] = flight.outcome(i);
      rawStatuses[i] = flight.rawStatus(i);
    }
    if (!current) replace(count, TransferOutcome.COMPLETED, TransferOutcome.STALE);
  }

  void replace(int count, TransferOutcome what, TransferOutcome with) {
    for (int i = 0; i < count; i++) {
      if (outcomes[i] == what) outcomes[i] = with;
    }
  }

  /** Whatever has not ended will not be waited for. */
  void doubtTheRest(int count) {
    for (int i = 0; i < count; i++) {
      if (!outcomes[i].isTerminal()) outcomes[i] = TransferOutcome.IN_DOUBT;
    }
  }

  int count(int size, TransferOutcome wanted) {
    int count = 0;
    for (int i = 0; i < size; i++) {
      if (outcomes[i] == wanted) count++;
    }
    return count;
  }

  boolean allCompleted(int from, int to) {
    for (int i = from; i < to; i++) {
      if (outcomes[i] != TransferOutcome.COMPLETED) return false;
    }
    return true;
  }

  boolean allTerminal(int from, int to) {
    for (int i = from; i < to; i++) {
      if (!outcomes[i].isTerminal()) return false;
    }
    return true;
  }
}
