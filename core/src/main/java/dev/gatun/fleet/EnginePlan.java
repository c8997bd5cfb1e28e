package dev.gatun.fleet;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What is going to be done to one engine, phase by phase. Two things are never in it, since both killed a real engine:
 * resetting running requests together with the store, and a pause that keeps requests while caches are cleared.
 *
 * @param sequence its name: {@code pause-reset-resume}, or {@code drain-reset} for engines that cannot be paused
 */
record EnginePlan(String sequence, Map<Phase, List<Action>> actions) {
  static final EnginePlan NOTHING = new EnginePlan("none", Map.of());

  static EnginePlan of(FleetEngine engine, Capabilities can, FleetConfig config) {
    Dialect dialect = engine.kind() == EngineKind.VLLM ? new VllmDialect() : new SglangDialect();
    Map<Phase, List<Action>> actions = new EnumMap<>(Phase.class);
    for (Phase phase : config.path().phases()) {
      if (phase != Phase.STORE) actions.put(phase, actions(phase, engine, can, config, dialect));
    }
    return new EnginePlan(can.pause() ? "pause-reset-resume" : "drain-reset", actions);
  }

  List<Action> in(Phase phase) {
    return actions.getOrDefault(phase, List.of());
  }

  String text(Phase phase) {
    return in(phase).stream().map(Action::text).collect(Collectors.joining(", then "));
  }

  private static List<Action> actions(Phase phase, FleetEngine engine, Capabilities can, FleetConfig config,
      Dialect dialect) {
    return switch (phase) {
      case WAKE -> List.of(engine.mode() == RolloutMode.STANDALONE
          ? new Action.Skip("a standalone engine never slept: no wake-up")
          : dialect.wake(engine.wakeTags()));
      case PAUSE -> pause(can, config, dialect);
      case RESET -> List.of(dialect.reset(can));
      case SLEEP -> List.of(engine.mode() == RolloutMode.STANDALONE
          ? new Action.Skip("a standalone engine never sleeps")
          : dialect.sleep());
      case RESUME -> List.of(resume(can, config, dialect));
      case STORE -> List.of();
    };
  }

  private static List<Action> pause(Capabilities can, FleetConfig config, Dialect dialect) {
    boolean abort = config.path() == FleetPath.ABORT_ALL;
    if (can.pause()) return List.of(dialect.pause(abort ? PauseMode.ABORT : config.pause()));
    return abort && can.abort() ? List.of(dialect.abort(), new Action.Drain()) : List.of(new Action.Drain());
  }

  private static Action resume(Capabilities can, FleetConfig config, Dialect dialect) {
    if (!can.pause()) return new Action.Skip("it was not paused, since it cannot be");
    if (config.path() == FleetPath.CLEAR_KV_CACHE && can.pausedBefore()) {
      return new Action.Skip("it was paused before, and stays so");
    }
    return dialect.resume();
  }
}
