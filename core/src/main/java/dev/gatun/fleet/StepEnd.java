package dev.gatun.fleet;

import dev.gatun.fleet.FleetReport.Result;

/**
 * How one step ended.
 *
 * @param result how
 * @param detail what was answered
 * @param mayGoOn whether the answer leaves open that the engine is still at it
 */
record StepEnd(Result result, String detail, boolean mayGoOn) {

  static StepEnd of(Result result, String detail) {
    return new StepEnd(result, detail, false);
  }

  /** Of an answer that either shows that it was done, or is none that is known. */
  static StepEnd of(boolean done, EngineAnswer answer) {
    return done
        ? of(Result.DONE, answer.text())
        : of(Result.UNPROVEN, answer.text() + ": nothing that such a server answers when it is done");
  }

  StepEnd goingOn(boolean possibly) {
    return new StepEnd(result, detail, possibly);
  }
}
