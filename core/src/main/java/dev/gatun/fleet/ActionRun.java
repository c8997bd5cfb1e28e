package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.fleet.FleetReport.Result;

/** Carries out actions of one engine, to a deadline. */
record ActionRun(EngineClient client, Deadline deadline) {
  private static final int SERVER_ERROR = 500;

  StepEnd carryOut(Action action) {
    return switch (action) {
      case Action.Skip skip -> StepEnd.of(Result.SKIPPED, skip.reason());
      case Action.Drain drain -> drain();
      case Action.Call call -> call(call);
    };
  }

  private StepEnd call(Action.Call call) {
    EngineAnswer answer = client.send("POST", call.path(), call.body(), deadline);
    StepEnd end = answer.ok() ? call.judge().of(answer) : StepEnd.of(Result.ERROR, answer.text());
    boolean strange = end.result() == Result.UNPROVEN && !answer.isEmpty();
    return end.goingOn(strange || answer.status() >= SERVER_ERROR);
  }

  private StepEnd drain() {
    double left = Drained.await(client, deadline);
    if (left == 0) return StepEnd.of(Result.DONE, "no request left; new ones are not stopped");
    return StepEnd.of(Result.NO_ANSWER, left < 0
        ? "its /metrics does not say how many requests it has"
        : Math.round(left) + " requests left at the deadline");
  }
}
