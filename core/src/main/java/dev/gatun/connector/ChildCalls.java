package dev.gatun.connector;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.ResetReport.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls to the children of a {@link MultiConnector}: what one of them throws is counted and keeps no other from its turn. */
final class ChildCalls {
  private static final Logger LOG = LoggerFactory.getLogger(ChildCalls.class);

  private final ConnectorSide side;
  private final Counts counts = new Counts("child_failures");

  ChildCalls(ConnectorSide side) {
    this.side = side;
  }

  <T> T orElse(String child, T otherwise, Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException thrown) {
      counts.add("child_failures", 1);
      LOG.warn("{} side of {} threw {}", side, child, thrown.toString());
      return otherwise;
    }
  }

  void run(String child, Runnable call) {
    orElse(child, false, () -> {
      call.run();
      return true;
    });
  }

  /**
   * Resets every child, whatever the others come to; the whole fails if one does.
   *
   * @throws IllegalArgumentException if the epoch is too low for all of them, so that nothing was done
   */
  ResetReport reset(List<KvConnector> children, WeightEpoch next, Function<KvConnector, ResetReport> reset) {
    List<ResetReport> reports = new ArrayList<>();
    List<IllegalArgumentException> refused = new ArrayList<>();
    for (KvConnector child : children) {
      try {
        reports.add(reset.apply(child));
      } catch (IllegalArgumentException tooLow) {
        refused.add(tooLow);
        reports
            .add(ResetReport.failed(child.name(), side, "reset to " + next + " was refused: " + tooLow.getMessage()));
      } catch (RuntimeException thrown) {
        counts.add("child_failures", 1);
        reports.add(ResetReport.failed(child.name(), side, "reset to " + next + " threw: " + thrown));
      }
    }
    if (refused.size() == children.size()) throw refused.getFirst();
    List<String> failed = reports.stream().filter(report -> !report.succeeded()).map(ResetReport::connector).toList();
    boolean nothing = reports.stream().allMatch(report -> report.outcome() == Outcome.NOTHING_TO_RESET);
    Outcome outcome = nothing ? Outcome.NOTHING_TO_RESET : Outcome.RESET;
    return new ResetReport(MultiConnector.NAME, side, failed.isEmpty() ? outcome : Outcome.FAILED,
        failed.isEmpty() ? reports.size() + " connectors reset" : "not reset: " + String.join(", ", failed),
        Optional.empty(), reports);
  }

  /** Counts of every child that has any to give. */
  ConnectorStats stats(List<KvConnector> children, Function<KvConnector, ConnectorStats> stats) {
    List<ConnectorStats> each = new ArrayList<>();
    for (KvConnector child : children)
      each.add(orElse(child.name(), new ConnectorStats(child.name(), side, Map.of(), List.of()),
          () -> stats.apply(child)));
    return new ConnectorStats(MultiConnector.NAME, side, counts.snapshot(), each);
  }
}
