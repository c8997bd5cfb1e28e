package dev.gatun.cli;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.StoreOptionsBuilder;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import dev.gatun.store.MooncakeConfigFile;
import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which store a command talks to. Nothing is guessed from the environment. */
final class StoreConnection {
  // the master's own default for its administration
  static final int ADMIN_PORT = 9003;

  @Option(names = "--store", paramLabel = "NAME", description = "mooncake; loopback is refused, since that store lives in one process")
  String store = StoreOptions.MOONCAKE;

  @Option(names = "--master", paramLabel = "HOST:PORT", description = "the master, or give --config")
  @Nullable
  String master;

  @Option(names = {"--admin",
      "--master-admin"}, paramLabel = "URL", description = "the master's administration; default: http://HOST:9003 of --master")
  @Nullable
  String admin;

  @Option(names = "--config", paramLabel = "FILE", description = "a JSON file as MOONCAKE_CONFIG_PATH names it, instead of --master and --admin")
  @Nullable
  Path config;

  @Option(names = "--library", paramLabel = "FILE", description = "libmooncake_store.so to load; default: see gatun doctor")
  @Nullable
  Path library;

  @Option(names = "--local-hostname", paramLabel = "HOST", description = "name under which other machines reach this one; default: the address that faces the master")
  @Nullable
  String localHostname;

  /** {@return options for a client that contributes no memory, so that what it puts stays when it ends} */
  StoreOptions options(long localBufferBytes) {
    requireMooncake();
    StoreOptionsBuilder builder = config != null ? fromFile(config) : fromOptions();
    if (localHostname != null) builder.localHostname(localHostname);
    if (library != null) builder.libraryPath(library);
    return builder.segmentBytes(0).localBufferBytes(localBufferBytes).build();
  }

  private void requireMooncake() {
    if (store.equals(StoreOptions.MOONCAKE)) return;
    if (store.equals(StoreOptions.LOOPBACK)) {
      throw new CommandException(ExitCode.USAGE, "the embedded store lives inside one process and ends with it, so "
          + "there is nothing another command could see; use a master: gatun mooncake run, then --master HOST:PORT");
    }
    throw new CommandException(ExitCode.USAGE, "--store must be mooncake: \"" + store + '"');
  }

  private StoreOptionsBuilder fromFile(Path file) {
    if (master != null || admin != null) {
      throw new CommandException(ExitCode.USAGE, "give --config, or --master and --admin, not both");
    }
    return MooncakeConfigFile.read(file);
  }

  private StoreOptionsBuilder fromOptions() {
    if (master == null) {
      throw new CommandException(ExitCode.USAGE, "--master HOST:PORT is missing (or --config FILE)");
    }
    StoreOptionsBuilder builder = StoreOptions.mooncake(master).masterAdmin(adminUrl(master, admin));
    return localHostname == null ? builder.localHostnameTowardsMaster() : builder;
  }

  /** {@return the base of a master's administration: the one given, else on the usual port of the master's host} */
  static String adminUrl(@Nullable String address, @Nullable String admin) {
    // the options check it, and add a scheme that is missing
    if (admin != null) return StoreOptions.mooncake("127.0.0.1").masterAdmin(admin).build().masterAdmin();
    if (address == null || address.contains("://")) return ""; // a highly available master has no one address
    return "http://" + new HostPort(HostPort.parse("--master", address, HostPort.NO_PORT).host(), ADMIN_PORT);
  }

  /** {@return the base of the master's administration} */
  URI admin() {
    String url = options(0).masterAdmin();
    if (url.isEmpty())
      throw new CommandException(ExitCode.USAGE, "the master's administration is not known: --admin URL");
    return URI.create(url);
  }

  /** {@return what was given, by the names of a fleet's file} */
  Map<String, Object> values() {
    Map<String, Object> values = new LinkedHashMap<>();
    if (!store.equals(StoreOptions.MOONCAKE)) values.put("store", store);
    FleetOptions.put(values, "master", master);
    FleetOptions.put(values, "admin", admin);
    FleetOptions.put(values, "config", config);
    FleetOptions.put(values, "library", library);
    FleetOptions.put(values, "local_hostname", localHostname);
    return values;
  }

  /** Opens the store; keys are exactly as given. */
  KvStore open(long localBufferBytes) {
    return open(options(localBufferBytes), KeyCodec.verbatim(), new EpochGate(new WeightEpoch("command", 0)));
  }

  /** Opens a store; whatever keeps it from opening is something that is not there. */
  static KvStore open(StoreOptions options, KeyCodec codec, EpochGate gate) {
    try {
      return KvStore.open(options, codec, gate, Observer.NONE);
    } catch (GatunException unavailable) {
      throw new CommandException(ExitCode.UNAVAILABLE, String.valueOf(unavailable.getMessage()));
    }
  }
}
