package dev.gatun.internal.backend;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.bindings.nixl.NixlC;
import dev.gatun.bindings.nixl.NixlLibrary;
import dev.gatun.nativelib.LibraryLocation;
import dev.gatun.nativelib.LibraryUnavailableException;
import dev.gatun.nativelib.NativeAccess;
import dev.gatun.nativelib.NativeEnvironment;
import dev.gatun.nativelib.NativeLibraries;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The NIXL of this process, loaded by the first engine. It stands beside whatever Mooncake the process is bound to. */
final class NixlBinding {
  /**
   * What UCX reads when it is loaded, and would otherwise do to a JVM: take over SIGHUP, which ends a JVM in an orderly
   * way, to switch on its debugging (measured); in builds that handle errors, take over SIGSEGV and SIGBUS, which a JVM
   * needs; and log to standard output. A variable that is set already stays.
   */
  private static final Map<String, String> ENVIRONMENT = Map.of("UCX_DEBUG_SIGNO", "0", "UCX_ERROR_SIGNALS", "",
      "UCX_LOG_FILE", "stderr");

  /** Devices by the names that UCX has for them. The plugin's own parameter takes RDMA devices only. */
  private static final String DEVICES = "UCX_NET_DEVICES";

  private static @Nullable LibraryLocation bound;
  private static String devices = "";

  private NixlBinding() {}

  /**
   * Loads the library, or checks that the one in place will do. Blocks.
   *
   * @throws GatunException if it cannot be had, saying what was tried and what to do
   */
  static synchronized void bind(EngineOptions options) {
    if (bound != null && !devices.equals(options.devices())) {
      throw new GatunException("this process has opened an engine of nixl with devices \"" + devices
          + "\", which UCX reads for all; one with \"" + options.devices() + "\" needs a process of its own");
    }
    if (bound != null && options.libraryPath() == null) return;
    try {
      Path path = options.libraryPath();
      LibraryLocation location = path == null ? NativeLibraries.locateNixl() : NativeLibraries.locateNixl(path);
      ENVIRONMENT.forEach((name, value) -> {
        if (NativeEnvironment.getenv(name).isEmpty()) NativeEnvironment.setenv(name, value);
      });
      if (!options.devices().isEmpty()) NativeEnvironment.setenv(DEVICES, options.devices());
      // first, with all symbols resolved: this one says what is missing and how to get it
      NativeLibraries.open(location.loadOrder());
      NixlLibrary.load(location.loadOrder().getFirst());
      if (NixlC.nixl_capi_is_stub()) {
        throw new GatunException("the NIXL library " + List.copyOf(location.loadOrder())
            + " is the stub that NIXL builds where it is not installed; gatun nixl install gets a real one, or set"
            + " NIXL_LIBRARY=/path/to/libnixl_capi.so");
      }
      bound = location;
      devices = options.devices();
    } catch (LibraryUnavailableException | UnsatisfiedLinkError | IllegalStateException e) {
      throw new GatunException("the nixl library cannot be used: " + e.getMessage(), e);
    } catch (IllegalCallerException e) {
      throw new GatunException(NativeAccess.denied(NixlLibrary.class, e).getMessage(), e);
    }
  }
}
