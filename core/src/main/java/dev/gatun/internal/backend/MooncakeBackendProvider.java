package dev.gatun.internal.backend;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreBackendProvider;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeStoreC;
import dev.gatun.nativelib.LibraryUnavailableException;
import dev.gatun.nativelib.NativeEnvironment;
import dev.gatun.nativelib.NativeLibraries;
import dev.gatun.nativelib.SignalMarker;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens clients of a Mooncake master. */
public final class MooncakeBackendProvider implements StoreBackendProvider {
  private static final Logger LOG = LoggerFactory.getLogger(MooncakeBackendProvider.class);
  private static final String HOT_CACHE = "MC_STORE_LOCAL_HOT_CACHE_SIZE";

  /** For {@link java.util.ServiceLoader}. */
  public MooncakeBackendProvider() {}

  @Override
  public String library() {
    return StoreOptions.MOONCAKE;
  }

  @Override
  public StoreBackend open(StoreOptions options) {
    for (String warning : options.warnings())
      LOG.warn("{}", warning);
    if (!options.isHighlyAvailable()) requireReachable(options);
    StoreCensus census = options.masterAdmin().isEmpty()
        ? null
        : new MasterCensus(options.masterAdmin(), options.adminTimeout());
    try {
      return StoreOpening.open(options, () -> create(options), doubts(), census);
    } catch (RuntimeException e) {
      if (census instanceof MasterCensus http) http.close();
      throw e;
    }
  }

  /**
   * Binds, then creates behind the marker, which keeps the first store of a process from taking over its signals.
   */
  private static MemorySegment create(StoreOptions options) {
    LibraryBinding.bind(options,
        path -> path == null ? NativeLibraries.locateMooncake() : NativeLibraries.locateMooncake(path));
    requireLockable(options);
    SignalMarker marker = openMarker();
    try {
      if (!marker.takesEffect())
        LOG.warn("the store library has an unusual soname: it may take over this process's signals");
      return MooncakeStoreC.mooncake_store_create();
    } finally {
      marker.close();
    }
  }

  private static SignalMarker openMarker() {
    try {
      return SignalMarker.open();
    } catch (LibraryUnavailableException e) {
      throw new GatunException("the signal marker cannot be used: " + e.getMessage(), e);
    }
  }

  /** The library registers its own memory while it opens, and hides why that fails. */
  private static void requireLockable(StoreOptions options) {
    long bytes = options.segmentBytes() + Math.min(options.localBufferBytes(), Long.MAX_VALUE - options.segmentBytes());
    String refusal = RdmaAdvice.of(options.protocol(), options.devices()).refusal(bytes);
    if (!refusal.isEmpty()) {
      throw new GatunException("segmentBytes " + options.segmentBytes() + " and localBufferBytes "
          + options.localBufferBytes() + " cannot be registered for protocol " + options.protocol() + ": " + refusal);
    }
  }

  /** A master that is not there costs the library up to 88 seconds and a message that does not name it. */
  private static void requireReachable(StoreOptions options) {
    HostPort master = HostPort.parse("master", options.master(), HostPort.NO_PORT);
    try (Socket probe = new Socket()) {
      probe.connect(new InetSocketAddress(master.host(), master.port()), (int) options.rpcTimeout().toMillis());
    } catch (IOException e) {
      throw new GatunException("no master answers at " + master + ": " + e.getMessage()
          + "; start one (gatun mooncake run) or correct the address", e);
    }
  }

  private static List<String> doubts() {
    String cache = NativeEnvironment.getenv(HOT_CACHE).orElse("0");
    if (cache.equals("0")) return List.of();
    return List.of(
        HOT_CACHE + " is " + cache + ": this client may answer a get from a cache that compares key and size only");
  }
}
