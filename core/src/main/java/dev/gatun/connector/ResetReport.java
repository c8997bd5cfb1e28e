package dev.gatun.connector;

import dev.gatun.refit.RefitReport;
import java.util.List;
import java.util.Optional;

/**
 * What one side of a connector did in a reset.
 *
 * @param connector its name
 * @param side which side
 * @param outcome how it ended
 * @param detail for people: what was reset, or why not
 * @param refit what was proved about the stores, if there are any
 * @param children reports of the connectors inside, in their order
 */
public record ResetReport(String connector, ConnectorSide side, Outcome outcome, String detail,
    Optional<RefitReport> refit, List<ResetReport> children) {

  /** How a reset ended. */
  public enum Outcome {
    /** Nothing of earlier weights can be had any more, as far as the policy asks for proof. */
    RESET,
    /** There is nothing that could be reset: success. */
    NOTHING_TO_RESET,
    /** Something of earlier weights may still be had: do not go on with this connector. */
    FAILED
  }

  /** Makes the list immutable. */
  public ResetReport {
    children = List.copyOf(children);
  }

  /** {@return whether the host may go on} */
  public boolean succeeded() {
    return outcome != Outcome.FAILED;
  }
}
