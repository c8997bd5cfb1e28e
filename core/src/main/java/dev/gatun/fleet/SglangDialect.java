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
        .map(tag -> '"' + tag + '"').collect(Collectors.joining(", ", "{\"tags\": [", "]}")));
  }

  @Override
  public Action pause(PauseMode mode) {
    return new Action.Call("/pause_generation", "{\"mode\": \"abort\"}");
  }

  @Override
  public Action abort() {
    return new Action.Call("/abort_request", "{\"abort_all\": true}");
  }

  @Override
  public Action reset(Capabilities can) {
    return new Action.Call("/flush_cache", null);
  }

  @Override
  public Action sleep() {
    return new Action.Call("/release_memory_occupation", "{}");
  }

  @Override
  public Action resume() {
    return new Action.Call("/continue_generation", "{}");
  }
}
