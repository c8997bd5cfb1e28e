package dev.gatun.fleet;

import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.fleet.FleetReport.Step;
import dev.gatun.refit.RefitOutcome;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What was asked of one engine, and what came of it. Whatever happens becomes a step. */
final class StepLog {
  // an answer is shown in 200, an address and an explanation take the rest
  private static final int DETAIL_MAX = 4000;

  private final List<Step> steps = new ArrayList<>();

  /** What is asked, and judges the answer. */
  interface Work {
    StepEnd run();
  }

  /** Does something that takes time. */
  StepEnd time(String phase, String request, Work work) {
    long start = System.nanoTime();
    StepEnd end;
    try {
      end = work.run();
    } catch (DeadlineException late) {
      end = StepEnd.of(Result.NO_ANSWER, String.valueOf(late.getMessage()));
    } catch (GatunException lost) {
      boolean refused = lost.getCause() instanceof ConnectException;
      end = StepEnd.of(refused ? Result.UNREACHABLE : Result.NO_ANSWER, String.valueOf(lost.getMessage()));
    }
    steps.add(new Step(phase, request, end.result(), System.nanoTime() - start, Line.of(end.detail(), DETAIL_MAX)));
    return end;
  }

  /** Nothing is done, and why. */
  void skip(String phase, String request, String reason) {
    steps.add(new Step(phase, request, Result.SKIPPED, 0, reason));
  }

  List<Step> steps() {
    return steps;
  }

  /** The last that did not end as it should. */
  Optional<Step> lastUnproven() {
    return steps.reversed().stream().filter(step -> step.result().outcome() != RefitOutcome.VERIFIED).findFirst();
  }
}
