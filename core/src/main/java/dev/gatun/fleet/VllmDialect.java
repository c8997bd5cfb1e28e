package dev.gatun.fleet;

import dev.gatun.fleet.FleetReport.Result;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** vLLM's development endpoints. */
record VllmDialect() implements Dialect {

  @Override
  public Action wake(List<String> tags) {
    String query = tags.stream().map(tag -> "tags=" + tag).collect(Collectors.joining("&", "/wake_up?", ""));
    return new Action.Call(query, null, answer -> wordless(answer, "awake", "sleeping"));
  }

  /** Without clearing: that would empty the store under engines that still run. */
  @Override
  public Action pause(PauseMode mode) {
    return new Action.Call("/pause?mode=" + mode.name().toLowerCase(Locale.ROOT) + "&clear_cache=false", null,
        answer -> StepEnd.of(states(answer, "paused"), answer));
  }

  @Override
  public Action abort() {
    return new Action.Call("/abort_requests", "{}", answer -> StepEnd.of(states(answer, "aborted"), answer));
  }

  @Override
  public Action reset(Capabilities can) {
    return new Action.Call(can.external() == Capabilities.External.ABSENT
        ? "/reset_prefix_cache"
        : "/reset_prefix_cache?reset_external=true", null, VllmDialect::judgeReset);
  }

  /** Older versions answer nothing, whatever came of it. */
  private static StepEnd judgeReset(EngineAnswer answer) {
    if (answer.isEmpty()) {
      return StepEnd.of(Result.UNPROVEN, answer.text()
          + " without a word: whether the engine let go of its own pages is not shown, and held pages keep it from it");
    }
    return answer.states("success", false)
        ? StepEnd.of(Result.DENIED, answer.text())
        : StepEnd.of(answer.states("success", true), answer);
  }

  @Override
  public Action sleep() {
    return new Action.Call("/sleep?level=1", null, answer -> wordless(answer, "sleeping"));
  }

  @Override
  public Action resume() {
    return new Action.Call("/resume", null, answer -> StepEnd.of(states(answer, "resumed"), answer));
  }

  private static boolean states(EngineAnswer answer, String... words) {
    return List.of(words).contains(answer.json().path("status").asText());
  }

  /** Of what older versions answer without a body, and with an error when it fails. */
  private static StepEnd wordless(EngineAnswer answer, String... words) {
    return StepEnd.of(answer.isEmpty() || states(answer, words), answer);
  }
}
