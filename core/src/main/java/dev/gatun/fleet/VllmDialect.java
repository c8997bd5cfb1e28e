package dev.gatun.fleet;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** vLLM's development endpoints. */
record VllmDialect() implements Dialect {

  @Override
  public Action wake(List<String> tags) {
    return new Action.Call(tags.stream().map(tag -> "tags=" + tag).collect(Collectors.joining("&", "/wake_up?", "")),
        null);
  }

  /** Without clearing: that would empty the store under engines that still run. */
  @Override
  public Action pause(PauseMode mode) {
    return new Action.Call("/pause?mode=" + mode.name().toLowerCase(Locale.ROOT) + "&clear_cache=false", null);
  }

  @Override
  public Action abort() {
    return new Action.Call("/abort_requests", "{}");
  }

  @Override
  public Action reset(Capabilities can) {
    return new Action.Call(can.external() == Capabilities.External.ABSENT
        ? "/reset_prefix_cache"
        : "/reset_prefix_cache?reset_external=true", null);
  }

  @Override
  public Action sleep() {
    return new Action.Call("/sleep?level=1", null);
  }

  @Override
  public Action resume() {
    return new Action.Call("/resume", null);
  }
}
