package dev.gatun.internal.backend;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreBackendProvider;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeStoreC;
import dev.gatun.nativelib.LibraryLocation;
import dev.gatun.nativelib.NativeLibraries;
import java.util.List;

/** Opens stores of the embedded library. Its pools live in this process; no signal, no environment, no network. */
public final class LoopbackBackendProvider implements StoreBackendProvider {
  /** For {@link java.util.ServiceLoader}. */
  public LoopbackBackendProvider() {}

  @Override
  public String library() {
    return StoreOptions.LOOPBACK;
  }

  @Override
  public StoreBackend open(StoreOptions options) {
    LibraryBinding.bind(options, path -> path == null
        ? NativeLibraries.locateLoopback()
        : new LibraryLocation(List.of(path), "libraryPath", List.of()));
    return StoreOpening.open(options, MooncakeStoreC::mooncake_store_create, List.of(),
        new LoopbackCensus(options.master()));
  }
}
