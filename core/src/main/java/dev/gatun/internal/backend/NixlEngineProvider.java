package dev.gatun.internal.backend;

import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineBackendProvider;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.internal.ffm.NativeHandle;
import java.lang.foreign.MemorySegment;

/** Opens agents of NIXL. */
public final class NixlEngineProvider implements EngineBackendProvider {
  // 100,000 scattered descriptors went through one request; what a batch costs in memory bounds it lower
  private static final int BATCH_MAX = 16_384;
  private static final int IN_FLIGHT_MAX = 100_000;
  // messages of 4 MiB arrived whole; a message is copied several times on its way
  private static final int NOTIFICATION_MAX = 1 << 20;

  private static final EngineCapabilities CAPABILITIES = new EngineCapabilities(true, true, true, true, BATCH_MAX,
      IN_FLIGHT_MAX, NOTIFICATION_MAX, true, false);

  /** For {@link java.util.ServiceLoader}. */
  public NixlEngineProvider() {}

  @Override
  public String engine() {
    return EngineOptions.NIXL;
  }

  @Override
  public EngineBackend open(EngineOptions options) {
    NixlBinding.bind(options);
    OpenNatives.prepare();
    NixlAgent agent = NixlAgent.create(options);
    NativeHandle<EngineCall> handle = new NativeHandle<>("nixl " + options.localName(),
        MemorySegment.ofAddress(agent.pointer()), destroyed -> agent.destroy(), EngineCall.class);
    NixlEngineBackend engine = new NixlEngineBackend(agent, handle, options, CAPABILITIES);
    try {
      OpenNatives.add(engine, engine.name(), engine::close);
      return engine;
    } catch (GatunException e) {
      engine.close();
      throw e;
    }
  }
}
