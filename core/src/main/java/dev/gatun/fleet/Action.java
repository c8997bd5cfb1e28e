package dev.gatun.fleet;

import org.jspecify.annotations.Nullable;

/** What is done to one engine in one phase. */
sealed interface Action permits Action.Call, Action.Drain, Action.Skip {

  /** {@return what a plan shows of it} */
  String text();

  /**
   * A request.
   *
   * @param path with its query
   * @param body JSON, null for none
   */
  record Call(String path, @Nullable String body) implements Action {
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
