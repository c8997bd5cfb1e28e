package dev.gatun.fleet;

import dev.gatun.backend.HostPort;
import dev.gatun.backend.OptionText;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.StoreOptionsBuilder;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.MooncakeConfigFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Makes a fleet's configuration of named values, from a file or a command line. */
final class FleetValues {
  private static final Set<String> FIELDS = Set.of("engines", "run", "weight_version", "store", "master", "admin",
      "config", "library", "local_hostname", "namespace", "epoch_in_key", "path", "pause", "on_failure", "attempts",
      "deadline", "watch", "node_rank");
  // the master's own default for its administration
  private static final int ADMIN_PORT = 9003;
  // what a call may wait for the master: several fit into the store's part of the deadline; unmeasured default
  private static final int CALLS_A_DEADLINE = 8;
  private static final Duration TIMEOUT_MIN = Duration.ofMillis(100);
  private static final Duration TIMEOUT_MAX = Duration.ofSeconds(10);

  private FleetValues() {}

  static FleetConfig config(Map<String, ?> values) {
    FleetFields fields = FleetFields.of("", values);
    fields.requireKnown(FIELDS);
    List<FleetEngine> engines = fields.objects("engines").stream().map(FleetEngine::of).toList();
    Duration deadline = OptionText.duration("deadline", fields.text("deadline", "30s"));
    return new FleetConfig(engines, store(fields, deadline), keys(fields), epoch(fields),
        fields.choice("path", FleetPath.AFTER_WEIGHT_SYNC, FleetPath.class), pause(fields), onFailure(fields),
        fields.integer("attempts", 3, 1, 100), deadline, OptionText.duration("watch", fields.text("watch", "0s")),
        fields.integer("node_rank", 0, 0, Integer.MAX_VALUE));
  }

  private static KeyCodec keys(FleetFields fields) {
    if (fields.bool("epoch_in_key", false)) return KeyCodec.epoch(fields.text("namespace", "default"));
    if (!fields.has("namespace")) return KeyCodec.verbatim();
    throw fields.refused("namespace", "must be absent unless epoch_in_key is yes: keys of engines have none");
  }

  private static WeightEpoch epoch(FleetFields fields) {
    return new WeightEpoch(fields.required("run", "the training run, as the trainer names it"), OptionText.integer(
        "weight_version", fields.required("weight_version", "the weight version to come, 1 or more"), 1,
        Long.MAX_VALUE));
  }

  private static PauseMode pause(FleetFields fields) {
    if (fields.text("pause", "abort").equalsIgnoreCase("keep")) {
      throw fields.refused("pause", "must be abort or wait: requests that are kept hold on to their old KV, and "
          + "clearing the cache under them killed a real engine when it resumed");
    }
    return fields.choice("pause", PauseMode.ABORT, PauseMode.class);
  }

  private static OnFailure onFailure(FleetFields fields) {
    return OnFailure.of(fields.text("on_failure", "fail").toLowerCase(Locale.ROOT));
  }

  private static StoreOptions store(FleetFields fields, Duration deadline) {
    String name = fields.text("store", StoreOptions.MOONCAKE);
    if (name.equals(StoreOptions.LOOPBACK)) {
      throw fields.refused("store", "must be mooncake, since the embedded store lives inside one process, where no "
          + "engine can reach it");
    }
    if (!name.equals(StoreOptions.MOONCAKE)) throw fields.refused("store", "must be mooncake");
    StoreOptionsBuilder builder = fields.has("config") ? fromFile(fields) : fromFields(fields);
    if (fields.has("local_hostname")) builder.localHostname(fields.text("local_hostname", ""));
    if (fields.has("library")) builder.libraryPath(Path.of(fields.text("library", "")));
    Duration timeout = timeout(deadline);
    return builder.segmentBytes(0).localBufferBytes(0).rpcTimeout(timeout).adminTimeout(timeout).closeTimeout(timeout)
        .build();
  }

  private static StoreOptionsBuilder fromFile(FleetFields fields) {
    if (fields.has("master") || fields.has("admin")) {
      throw fields.refused("config", "must be absent where master or admin is given");
    }
    return MooncakeConfigFile.read(Path.of(fields.text("config", "")));
  }

  private static StoreOptionsBuilder fromFields(FleetFields fields) {
    String master = fields.required("master", "host:port of the store's master, or give config");
    StoreOptionsBuilder builder = StoreOptions.mooncake(master);
    if (fields.has("admin")) {
      builder.masterAdmin(fields.text("admin", ""));
    } else if (!master.contains("://")) { // a highly available master has no one address
      builder.masterAdmin("http://" + new HostPort(HostPort.parse("master", master, HostPort.NO_PORT).host(),
          ADMIN_PORT));
    }
    return fields.has("local_hostname") ? builder : builder.localHostnameTowardsMaster();
  }

  private static Duration timeout(Duration deadline) {
    Duration part = deadline.dividedBy(CALLS_A_DEADLINE);
    if (part.compareTo(TIMEOUT_MIN) < 0) return TIMEOUT_MIN;
    return part.compareTo(TIMEOUT_MAX) > 0 ? TIMEOUT_MAX : part;
  }
}
