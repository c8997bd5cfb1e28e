package dev.gatun.internal.backend;

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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one library that this process is bound to, with the settings that it reads once. The first store decides; a later
 * one that needs something else is refused, since it would silently get the first one's.
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

  private static @Nullable LibraryBinding bound;

  /**
   * Loads the library, or checks that the one in place will do.
   *
   * @param options of the store that is being opened
   * @param locate finds the library, given the explicit path or null
   * @return the binding of this process
   * @throws GatunException if the library cannot be had, or the process is bound to another or with other settings
   */
  static synchronized LibraryBinding bind(StoreOptions options, Function<@Nullable Path, LibraryLocation> locate) {
    LibraryBinding before = bound;
    if (before != null && !before.library.equals(options.library())) {
      throw new GatunException("this process is bound to the " + before.library + " library (from "
          + before.location.chosenFrom() + "); a store of library " + options.library()
          + " needs a process of its own");
    }
    Map<String, String> settings = settings(options);
    if (before != null) before.requireSame(settings);
    try {
      if (before != null && options.libraryPath() == null) {
        MetadataSupport.require(options.metadataServer(), before.location.loadOrder());
        return before;
      }
      LibraryLocation location = locate.apply(options.libraryPath());
      MetadataSupport.require(options.metadataServer(), location.loadOrder());
      apply(settings);
      // first, with all symbols resolved: this one says what is missing and how to get it
      NativeLibraries.open(location.loadOrder());
      MooncakeLibraries.loadStore(location.loadOrder());
      LibraryBinding binding = before != null ? before : new LibraryBinding(options.library(), location, settings);
      bound = binding;
      return binding;
    } catch (LibraryUnavailableException | UnsatisfiedLinkError | IllegalStateException e) {
      throw new GatunException("the " + options.library() + " library cannot be used: " + e.getMessage(), e);
    } catch (IllegalCallerException e) {
      throw new GatunException(NativeAccess.denied(MooncakeLibraries.class, e).getMessage(), e);
    }
  }

  /** What the native environment must hold for these options; an empty value stands for a variable that must be absent. */
  private static Map<String, String> settings(StoreOptions options) {
    Map<String, String> settings = new LinkedHashMap<>();
    if (options.library().equals(StoreOptions.LOOPBACK)) return settings;
    settings.put(FORCE_TCP, options.protocol().equals("tcp") ? "1" : "");
    if (HostPort.parse("localHostname", options.localHostname(), HostPort.NO_PORT).isIpv6())
      settings.put(USE_IPV6, "1");
    String millis = Long.toString(options.rpcTimeout().toMillis());
    settings.put(RPC_TIMEOUT, millis);
    settings.put(RPC_CONNECT_TIMEOUT, millis);
    settings.put(SETUP_RETRIES, NativeEnvironment.getenv(SETUP_RETRIES).orElse(SETUP_RETRIES_DEFAULT));
    return settings;
  }

  private void requireSame(Map<String, String> wanted) {
    if (settings.equals(wanted)) return;
    throw new GatunException("this process has opened a store with " + describe(settings)
        + ", which the library reads once; a store with " + describe(wanted) + " needs a process of its own");
  }

  private static String describe(Map<String, String> settings) {
    Duration timeout = Duration.ofMillis(Long.parseLong(settings.getOrDefault(RPC_TIMEOUT, "0")));
    return "rpcTimeout " + timeout.toMillis() + "ms, "
        + (settings.getOrDefault(FORCE_TCP, "").isEmpty() ? "a protocol other than tcp" : "protocol tcp") + ", "
        + (settings.containsKey(USE_IPV6) ? "IPv6" : "no IPv6") + " local name";
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
