package dev.gatun.fleet;

import org.jspecify.annotations.Nullable;

/** What is done to one engine in one phase. */
sealed interface Action permits Action.Call, Action.Drain, Action.Skip {

  /** {@return what a plan shows of it} */
  String text();

  /** Tells from an answer of status 200 whether it was done. */
  interface Judge {
    StepEnd of(EngineAnswer answer);
  }

  /**
   * A request.
   *
   * @param path with its query
   * @param body JSON, null for none
   * @param judge what an answer of status 200 shows; any other is an error
   */
  record Call(String path, @Nullable String body, Judge judge) implements Action {
    @Override
    public String text() {
      return "POST " + path + (body == null ? "" : ' ' + body);
    }
  }

  /** Waits until the engine has no request left; it may take new ones. */
  record Drain() implements Action {
    @Override
    public String text() {
      return "GET /metrics until no request runs or waits";
    }
  }

  /** Nothing, and why. */
  record Skip(String reason) implements Action {
    @Override
    public String text() {
      return "nothing: " + reason;
    }
  }
}
