package dev.gatun.fleet;

import java.util.List;
import java.util.stream.Collectors;

/**
 * SGLang's administration. Its own removal of stored pages is not used: it leaves what was just read, and its result is
 * dropped.
 */
record SglangDialect() implements Dialect {

  @Override
  public Action wake(List<String> tags) {
    // it has no tag for the scheduler
    return new Action.Call("/resume_memory_occupation", tags.stream().filter(tag -> !tag.equals("scheduling"))
        .map(tag -> '"' + tag + '"').collect(Collectors.joining(", ", "{\"tags\": [", "]}")),
        SglangDialect::judgeWordless);
  }

  @Override
  public Action pause(PauseMode mode) {
    return new Action.Call("/pause_generation", "{\"mode\": \"abort\"}", SglangDialect::judgeStatus);
  }

  @Override
  public Action abort() {
    return new Action.Call("/abort_request", "{\"abort_all\": true}", SglangDialect::judgeWordless);
  }

  @Override
  public Action reset(Capabilities can) {
    return new Action.Call("/flush_cache", null,
        answer -> StepEnd.of(answer.body().startsWith("Cache flushed."), answer));
  }

  @Override
  public Action sleep() {
    return new Action.Call("/release_memory_occupation", "{}", SglangDialect::judgeWordless);
  }

  @Override
  public Action resume() {
    return new Action.Call("/continue_generation", "{}", SglangDialect::judgeStatus);
  }

  private static StepEnd judgeStatus(EngineAnswer answer) {
    return StepEnd.of(answer.json().path("status").asText().equals("ok"), answer);
  }

  /** It has nothing to say, which its server writes as an empty body or as null. */
  private static StepEnd judgeWordless(EngineAnswer answer) {
    return StepEnd.of(answer.isEmpty() || answer.json().isNull(), answer);
  }
}
