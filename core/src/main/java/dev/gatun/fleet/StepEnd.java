package dev.gatun.fleet;

import dev.gatun.fleet.FleetReport.Result;

/** How one step ended, and what was answered. */
record StepEnd(Result result, String detail) {

  /** Of an answer that either shows that it was done, or is none that is known. */
  static StepEnd of(boolean done, EngineAnswer answer) {
    return done
        ? new StepEnd(Result.DONE, answer.text())
        : new StepEnd(Result.UNPROVEN, answer.text() + ": nothing that such a server answers when it is done");
  }
}
