package dev.gatun.internal.backend;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeLibraries;
import dev.gatun.nativelib.LibraryLocation;
import dev.gatun.nativelib.LibraryUnavailableException;
import dev.gatun.nativelib.NativeAccess;
import dev.gatun.nativelib.NativeEnvironment;
import dev.gatun.nativelib.NativeLibraries;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one library that this process is bound to, with the settings that it reads once. The first store or engine decides; a
 * later one that needs something else is refused, since it would silently get the first one's.
 *
 * @param library {@code loopback} or {@code mooncake}
 * @param location where it was found
 * @param settings what the environment was set to
 */
record LibraryBinding(String library, LibraryLocation location, Map<String, String> settings) {
  // presence is what counts for the first two
  private static final String FORCE_TCP = "MC_FORCE_TCP";
  private static final String USE_IPV6 = "MC_USE_IPV6";
  private static final String RPC_TIMEOUT = "MC_RPC_TIMEOUT_MS";
  private static final String RPC_CONNECT_TIMEOUT = "MC_RPC_CONNECT_TIMEOUT_MS";

  private static final String SETUP_RETRIES = "MC_STORE_CLIENT_SETUP_RETRIES";
  // each attempt of a set-up picks another of some 2,000 ports at random, so a third collision in a row is all but
  // impossible; the library's own 20 wait 20 time limits for a master that takes connections and answers none
  private static final String SETUP_RETRIES_DEFAULT = "3";

  private static final String HANDSHAKE_CONNECT_TIMEOUT = "MC_HANDSHAKE_CONNECT_TIMEOUT";

  private static @Nullable LibraryBinding bound;

  /**
   * Loads the library for a store, or checks that the one in place will do.
   *
   * @param options of the store that is being opened
   * @param locate finds the library, given the explicit path or null
   * @return the binding of this process
   * @throws GatunException if the library cannot be had, or the process is bound to another or with other settings
   */
  static LibraryBinding bind(StoreOptions options, Function<@Nullable Path, LibraryLocation> locate) {
    return bind(new Needs("a store", options.library(), options.libraryPath(), options.metadataServer(),
        settings(options), MooncakeLibraries::loadStore), locate);
  }

  /**
   * Loads the library for an engine, or checks that the one in place will do.
   *
   * @param options of the engine that is being opened
   * @param locate finds the library, given the explicit path or null
   * @return the binding of this process
   * @throws GatunException if the library cannot be had, or the process is bound to another or with other settings
   */
  static LibraryBinding bind(EngineOptions options, Function<@Nullable Path, LibraryLocation> locate) {
    return bind(new Needs("an engine", options.engine(), options.libraryPath(), options.metadata(), settings(options),
        MooncakeLibraries::loadEngine), locate);
  }

  /** What somebody who opens something needs of the library. */
  private record Needs(String who, String library, @Nullable Path path, String metadata, Map<String, String> settings,
      Consumer<List<Path>> load) {}

  private static synchronized LibraryBinding bind(Needs needs, Function<@Nullable Path, LibraryLocation> locate) {
    LibraryBinding before = bound;
    if (before != null && !before.library.equals(needs.library)) {
      throw new GatunException("this process is bound to the " + before.library + " library (from "
          + before.location.chosenFrom() + "); " + needs.who + " of library " + needs.library
          + " needs a process of its own");
    }
    if (before != null) before.requireFit(needs);
    try {
      LibraryLocation location = before != null && needs.path == null ? before.location : locate.apply(needs.path);
      MetadataSupport.require(needs.metadata, location.loadOrder());
      apply(needs.settings);
      // first, with all symbols resolved: this one says what is missing and how to get it
      if (before == null || needs.path != null) NativeLibraries.open(location.loadOrder());
      needs.load.accept(location.loadOrder());
      Map<String, String> settings = new LinkedHashMap<>(before == null ? Map.of() : before.settings);
      settings.putAll(needs.settings);
      LibraryBinding binding = new LibraryBinding(needs.library, before == null ? location : before.location, settings);
      bound = binding;
      return binding;
    } catch (LibraryUnavailableException | UnsatisfiedLinkError | IllegalStateException e) {
      throw new GatunException("the " + needs.library + " library cannot be used: " + e.getMessage(), e);
    } catch (IllegalCallerException e) {
      throw new GatunException(NativeAccess.denied(MooncakeLibraries.class, e).getMessage(), e);
    }
  }

  /** What the native environment must hold for these options; an empty value stands for a variable that must be absent. */
  private static Map<String, String> settings(StoreOptions options) {
    Map<String, String> settings = new LinkedHashMap<>();
    if (options.library().equals(StoreOptions.LOOPBACK)) return settings;
    shared(settings, options.protocol(), "localHostname", options.localHostname());
    String millis = Long.toString(options.rpcTimeout().toMillis());
    settings.put(RPC_TIMEOUT, millis);
    settings.put(RPC_CONNECT_TIMEOUT, millis);
    settings.put(SETUP_RETRIES, NativeEnvironment.getenv(SETUP_RETRIES).orElse(SETUP_RETRIES_DEFAULT));
    return settings;
  }

  private static Map<String, String> settings(EngineOptions options) {
    Map<String, String> settings = new LinkedHashMap<>();
    if (options.engine().equals(EngineOptions.LOOPBACK)) return settings;
    shared(settings, options.protocol(), "localName", options.localName());
    settings.put(HANDSHAKE_CONNECT_TIMEOUT, Long.toString(Math.ceilDiv(options.connectTimeout().toMillis(), 1000L)));
    return settings;
  }

  private static void shared(Map<String, String> settings, String protocol, String field, String localName) {
    settings.put(FORCE_TCP, protocol.equals("tcp") ? "1" : "");
    if (HostPort.parse(field, localName, HostPort.NO_PORT).isIpv6()) settings.put(USE_IPV6, "1");
  }

  /** A store and an engine each read settings that the other does not: only what both have must agree. */
  private void requireFit(Needs needs) {
    boolean fits = needs.settings.entrySet().stream()
        .allMatch(wanted -> settings.getOrDefault(wanted.getKey(), wanted.getValue()).equals(wanted.getValue()));
    boolean sameAddresses = !needs.settings.containsKey(FORCE_TCP)
        || settings.containsKey(USE_IPV6) == needs.settings.containsKey(USE_IPV6);
    if (fits && sameAddresses) return;
    throw new GatunException("this process has opened "
        + (settings.containsKey(RPC_TIMEOUT) ? "a store" : "an engine") + " with " + describe(settings)
        + ", which the library reads once; " + needs.who + " with " + describe(needs.settings)
        + " needs a process of its own");
  }

  private static String describe(Map<String, String> settings) {
    String limits = settings.containsKey(RPC_TIMEOUT) ? "rpcTimeout " + settings.get(RPC_TIMEOUT) + "ms, " : "";
    if (settings.containsKey(HANDSHAKE_CONNECT_TIMEOUT)) {
      limits += "connectTimeout " + settings.get(HANDSHAKE_CONNECT_TIMEOUT) + " s, ";
    }
    return limits + (settings.getOrDefault(FORCE_TCP, "").isEmpty() ? "a protocol other than tcp" : "protocol tcp")
        + ", " + (settings.containsKey(USE_IPV6) ? "IPv6" : "no IPv6") + " local name";
  }

  private static void apply(Map<String, String> settings) {
    settings.forEach((name, value) -> {
      // untouched where it is right: native threads may be reading the environment
      if (NativeEnvironment.getenv(name).orElse("").equals(value)) return;
      if (value.isEmpty()) NativeEnvironment.unsetenv(name);
      else
        NativeEnvironment.setenv(name, value);
    });
  }
}
