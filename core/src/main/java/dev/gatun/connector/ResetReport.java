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

  /** {@return the report of a refit, with its reasons behind what was done} */
  static ResetReport of(String connector, ConnectorSide side, String done, RefitReport refit) {
    Outcome outcome = refit.accepted() ? Outcome.RESET : Outcome.FAILED;
    String detail = refit.reasons().isEmpty() ? done : done + ": " + String.join("; ", refit.reasons());
    return new ResetReport(connector, side, outcome, detail, Optional.of(refit), List.of());
  }

  /** {@return the report of a reset that came to nothing} */
  static ResetReport failed(String connector, ConnectorSide side, String detail) {
    return new ResetReport(connector, side, Outcome.FAILED, detail, Optional.empty(), List.of());
  }

  /** {@return whether the host may go on} */
  public boolean succeeded() {
    return outcome != Outcome.FAILED;
  }
}
