package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.bindings.mooncake.MooncakeEngineC;
import dev.gatun.internal.ffm.CStrings;
import dev.gatun.internal.ffm.NativeHandle;
import dev.gatun.internal.ffm.ThrowAwayThread;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Creates native engines with one transport. An engine that got none is destroyed, never handed out. */
final class EngineOpening {
  // host names are at most 253 bytes, a port 6, brackets 2; rounded up, since the library cuts off in silence
  private static final int NAME_BYTES = 1024;
  // the port that a name without one is taken to have; a label, the engine listens on another
  private static final int PORT = 12_001;

  private EngineOpening() {}

  /**
   * Opens an engine. Blocks.
   *
   * @param options checked options; the library is bound
   * @param protocol what to install
   * @param capabilities what an engine of this kind can do
   * @return the open engine
   * @throws GatunException if the library refuses
   */
  static MooncakeEngineBackend open(EngineOptions options, String protocol, EngineCapabilities capabilities) {
    OpenNatives.prepare();
    MooncakeEngineBackend engine = ThrowAwayThread.call("gatun-open", () -> create(options, protocol, capabilities));
    OpenNatives.add(engine, engine.name(), engine::close);
    return engine;
  }

  private static MooncakeEngineBackend create(EngineOptions options, String protocol, EngineCapabilities capabilities) {
    HostPort local = HostPort.parse("localName", options.localName(), PORT);
    try (Arena call = Arena.ofConfined()) { // per call: the strings are copied inside
      MemorySegment pointer = MooncakeEngineC.createTransferEngine(
          CStrings.encode(call, "metadata", options.metadata()),
          CStrings.encode(call, "localName", local.toString()), CStrings.encode(call, "localName", local.host()),
          local.port(), discovers(protocol) ? 1 : 0);
      if (pointer.address() == 0) {
        throw new GatunException("the " + options.engine() + " library created no engine for localName " + local
            + " and metadata " + options.metadata()
            + "; look at: whether the metadata service answers and has no stale entry of that name, free ports, and "
            + "the library's log");
      }
      NativeHandle<EngineCall> handle = new NativeHandle<>(options.engine() + ' ' + local, pointer,
          MooncakeEngineC::destroyTransferEngine, EngineCall.class);
      try {
        MemorySegment transport = MooncakeEngineC.installTransport(pointer, CStrings.encode(call, "protocol", protocol),
            MemorySegment.NULL);
        // a failed install can leave an engine that crashes at the next registration: it is given up
        if (transport.address() == 0) {
          throw new GatunException("the " + options.engine() + " library installed no transport for protocol "
              + options.protocol() + "; this build or this machine has none: use tcp, or look at the library's log"
              + RdmaAdvice.whyNotOpened(options.protocol(), options.devices()));
        }
        return new MooncakeEngineBackend(handle, options, segmentName(call, pointer, options, local), capabilities);
      } catch (RuntimeException e) {
        handle.close(Deadline.after(options.closeTimeout()));
        throw e;
      }
    }
  }

  private static boolean discovers(String protocol) {
    return protocol.equals("rdma") || protocol.equals("efa");
  }

  /** With handshakes peers need the port that the engine listens on; with a metadata service they need the name. */
  private static String segmentName(Arena call, MemorySegment pointer, EngineOptions options, HostPort local) {
    if (!options.metadata().equals("P2PHANDSHAKE")) return local.toString();
    MemorySegment buffer = call.allocate(NAME_BYTES);
    MooncakeEngineC.getLocalIpAndPort(pointer, buffer, NAME_BYTES);
    String name = buffer.getString(0);
    int colon = name.lastIndexOf(':');
    // an IPv6 host comes without brackets
    boolean bare = colon > 0 && name.indexOf(':') != colon && !name.startsWith("[");
    return bare ? '[' + name.substring(0, colon) + ']' + name.substring(colon) : name;
  }
}
