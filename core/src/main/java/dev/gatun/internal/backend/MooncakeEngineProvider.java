package dev.gatun.internal.backend;

import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineBackendProvider;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineOptions;
import dev.gatun.nativelib.NativeLibraries;

/** Opens engines of Mooncake. */
public final class MooncakeEngineProvider implements EngineBackendProvider {
  // what the pooled TCP transport queues for one peer; beyond that it waits a second and fails requests
  private static final int IN_FLIGHT_MAX = 1_024;

  private static final EngineCapabilities CAPABILITIES = new EngineCapabilities(true, true, true, true, IN_FLIGHT_MAX,
      IN_FLIGHT_MAX, LoopbackEngineProvider.NOTIFICATION_MAX, true, false);

  /** For {@link java.util.ServiceLoader}. */
  public MooncakeEngineProvider() {}

  @Override
  public String engine() {
    return EngineOptions.MOONCAKE;
  }

  @Override
  public EngineBackend open(EngineOptions options) {
    if (!options.parameters().isEmpty()) {
      throw new IllegalArgumentException("parameters must be empty for engine mooncake: " + options.parameters());
    }
    if (!options.devices().isEmpty()) {
      throw new IllegalArgumentException("devices must be empty for engine mooncake, whose C interface takes no choice "
          + "of devices: " + options.devices());
    }
    LibraryBinding.bind(options,
        path -> path == null ? NativeLibraries.locateMooncake() : NativeLibraries.locateMooncake(path));
    return EngineOpening.open(options, options.protocol(), CAPABILITIES);
  }
}
