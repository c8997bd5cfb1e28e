package dev.gatun.fleet;

import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.store.KeyCodec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Everything a refit of a fleet needs; whatever is in an instance has been checked, and nothing has been sent. Immutable.
 *
 * @param engines one or more, each at an address of its own
 * @param store how to reach the store that the engines share, as a client that contributes no memory
 * @param keys form of the engines' keys: as they are, or Gatun's own with the weight epoch in them
 * @param epoch of the weights to come
 * @param path where in the training step this is
 * @param pause what becomes of running requests
 * @param onFailure {@link OnFailure#FAIL}, or {@link OnFailure#RETRY} with back-off
 * @param attemptsMax most attempts under {@link OnFailure#RETRY}
 * @param deadline longest time of an attempt, 1 s to an hour; the engines resume after it
 * @param watch how long to look for late removals: once the engines have resumed, zero for one look; or after a failure,
 *     1 s at least
 * @param nodeRank rank of the node that this runs on; only rank 0 acts
 */
public record FleetConfig(List<FleetEngine> engines, StoreOptions store, KeyCodec keys, WeightEpoch epoch,
    FleetPath path, PauseMode pause, OnFailure onFailure, int attemptsMax, Duration deadline, Duration watch,
    int nodeRank) {
  private static final Duration LIMIT = Duration.ofHours(1);
  private static final Duration DEADLINE_MIN = Duration.ofSeconds(1);

  /** Checks every field and refuses with field, value and what is allowed. */
  public FleetConfig {
    engines = List.copyOf(engines);
    if (engines.isEmpty()) throw new IllegalArgumentException("engines must be one or more: none");
    Set<String> seen = new HashSet<>();
    for (FleetEngine engine : engines) {
      if (engine.acts() && !seen.add(engine.address())) {
        throw new IllegalArgumentException("engines must be named once each: \"" + engine.url() + '"');
      }
      if (engine.kind() == EngineKind.SGLANG && pause == PauseMode.WAIT && path != FleetPath.ABORT_ALL) {
        throw new IllegalArgumentException(
            "pause must be abort where an engine is SGLang, which cannot wait for its requests: \"wait\" and "
                + engine.url());
      }
    }
    if (epoch.version() < 1) {
      throw new IllegalArgumentException("weight_version must be 1 or more: " + epoch.version());
    }
    if (onFailure == OnFailure.DISABLE_STORE) {
      throw new IllegalArgumentException("on_failure must be fail or retry: \"disable-store\" is for hosts in a JVM, "
          + "whose store Gatun can disable; an engine's store connector cannot be switched off over HTTP");
    }
    if (attemptsMax < 1 || attemptsMax > 100) {
      throw new IllegalArgumentException("attempts must be 1 to 100: " + attemptsMax);
    }
    if (deadline.compareTo(DEADLINE_MIN) < 0 || deadline.compareTo(LIMIT) > 0) {
      throw new IllegalArgumentException("deadline must be 1 s to 1 h: " + deadline);
    }
    if (watch.isNegative() || watch.compareTo(LIMIT) > 0) {
      throw new IllegalArgumentException("watch must be 0 s to 1 h: " + watch);
    }
    if (nodeRank < 0) throw new IllegalArgumentException("node_rank must be 0 or more: " + nodeRank);
  }

  /**
   * Reads a YAML file. Blocks on file I/O.
   *
   * @param file one YAML object
   * @return the checked configuration
   * @throws IllegalArgumentException if the file cannot be read or a field is wrong
   */
  public static FleetConfig read(Path file) {
    return FleetValues.config(FleetYaml.read(file));
  }

  /**
   * Takes named values, such as a YAML file and a command line give together.
   *
   * @param values by field: {@code engines}, {@code run}, {@code weight_version}, {@code master} and so on
   * @return the checked configuration
   * @throws IllegalArgumentException for an unknown field, with the closest known one, or a wrong value
   */
  public static FleetConfig of(Map<String, ?> values) {
    return FleetValues.config(values);
  }

  /**
   * Reads the values of a YAML file, unchecked, so that others can be laid over them before {@link #of} checks all.
   *
   * @param file one YAML object
   * @return by field the text that stands there, a list or a map; to keep and change
   * @throws IllegalArgumentException if the file cannot be read or is no object
   */
  public static Map<String, Object> values(Path file) {
    return FleetYaml.read(file);
  }

  /**
   * {@return this configuration with another store}
   *
   * @param other such as the embedded one, which hosts of this process share
   */
  public FleetConfig withStore(StoreOptions other) {
    return new FleetConfig(engines, other, keys, epoch, path, pause, onFailure, attemptsMax, deadline, watch, nodeRank);
  }
}
