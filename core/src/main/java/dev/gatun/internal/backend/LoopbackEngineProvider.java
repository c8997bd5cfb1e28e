package dev.gatun.internal.backend;

import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineBackendProvider;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineOptions;
import dev.gatun.nativelib.LibraryLocation;
import dev.gatun.nativelib.NativeLibraries;
import java.util.List;

/** Opens engines of the embedded library. */
public final class LoopbackEngineProvider implements EngineBackendProvider {
  // the library itself takes a million requests a batch; what a batch costs in memory bounds it lower
  private static final int BATCH_MAX = 65_536;
  // two thirds of what fits into a message of 1 MiB as text
  static final int NOTIFICATION_MAX = 512 << 10;

  private static final EngineCapabilities CAPABILITIES = new EngineCapabilities(true, true, true, true, BATCH_MAX,
      BATCH_MAX, NOTIFICATION_MAX, true, true);

  /** For {@link java.util.ServiceLoader}. */
  public LoopbackEngineProvider() {}

  @Override
  public String engine() {
    return EngineOptions.LOOPBACK;
  }

  @Override
  public EngineBackend open(EngineOptions options) {
    LibraryBinding.bind(options, path -> path == null
        ? NativeLibraries.locateLoopback()
        : new LibraryLocation(List.of(path), "libraryPath", List.of()));
    return EngineOpening.open(options, options.protocol(), CAPABILITIES);
  }
}
