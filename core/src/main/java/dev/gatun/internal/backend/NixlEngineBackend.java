package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.internal.ffm.NativeArguments;
import dev.gatun.internal.ffm.NativeHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An agent of NIXL. A segment is a peer's agent; its id stays the same however often it is opened. Each call checks its
 * arguments, enters the handle, crosses and leaves.
 */
final class NixlEngineBackend implements EngineBackend {
  private static final Logger LOG = LoggerFactory.getLogger(NixlEngineBackend.class);

  private final NixlAgent agent;
  private final NativeHandle<EngineCall> handle;
  private final EngineOptions options;
  private final EngineCapabilities capabilities;
  private final Arena arena = Arena.ofShared(); // engine
  private final CopyOnWriteArrayList<NixlPeer> peers = new CopyOnWriteArrayList<>();
  private final Map<Long, MemoryRange> registered = new TreeMap<>(Long::compareUnsigned); // guarded by itself
  private volatile NixlRanges local = NixlRanges.NONE;

  @SuppressWarnings("MustBeClosedChecker") // closed with the engine
  NixlEngineBackend(NixlAgent agent, NativeHandle<EngineCall> handle, EngineOptions options,
      EngineCapabilities capabilities) {
    this.agent = agent;
    this.handle = handle;
    this.options = options;
    this.capabilities = capabilities;
  }

  @Override
  public String name() {
    return options.engine() + ' ' + segmentName();
  }

  @Override
  public String engine() {
    return options.engine();
  }

  @Override
  public String segmentName() {
    return options.localName();
  }

  @Override
  public EngineCapabilities capabilities() {
    return capabilities;
  }

  /** {@return the library's own, after a head of {@link NixlMetadata#HEAD_BYTES} bytes} */
  @Override
  public byte[] metadata() {
    handle.enter(EngineCall.METADATA);
    try {
      return NixlMetadata.seal(agent.metadata());
    } finally {
      handle.exit(EngineCall.METADATA);
    }
  }

  /** Whether its UCX does is seen when memory is registered: the plugin claims it in every build. */
  @Override
  public boolean takesDeviceMemory() {
    return true;
  }

  /** Overlaps are refused here: the library takes them, and then cannot tell which registration is meant. */
  @Override
  public void register(MemorySegment memory, String location) {
    NativeArguments.writable("memory", memory, Math.max(1, memory.byteSize()));
    NixlRanges.kind(location);
    MemoryRange range = new MemoryRange(memory.address(), memory.byteSize(), location);
    handle.enter(EngineCall.REGISTER);
    try {
      synchronized (registered) {
        for (MemoryRange other : registered.values()) {
          if (other.contains(range.address(), 1) || range.contains(other.address(), 1)) {
            throw new EngineException("register", EngineCode.ADDRESS_OVERLAPPED, 0, range + " overlaps " + other);
          }
        }
        agent.register(range);
        registered.put(range.address(), range);
        local = NixlRanges.of(registered.values());
      }
    } finally {
      handle.exit(EngineCall.REGISTER);
    }
  }

  @Override
  public void unregister(MemorySegment memory) {
    handle.enter(EngineCall.UNREGISTER);
    try {
      synchronized (registered) {
        MemoryRange range = registered.get(memory.address());
        if (range == null || range.bytes() != memory.byteSize()) {
          throw new EngineException("unregister", EngineCode.ADDRESS_NOT_REGISTERED, 0,
              "address 0x" + Long.toHexString(memory.address()) + ", " + memory.byteSize() + " bytes");
        }
        agent.unregister(range);
        registered.remove(memory.address());
        local = NixlRanges.of(registered.values());
      }
    } finally {
      handle.exit(EngineCall.UNREGISTER);
    }
  }

  @Override
  public int openSegment(SegmentDescriptor descriptor) {
    if (!descriptor.engine().equals(options.engine())) {
      throw new IllegalArgumentException(
          "descriptor must be of engine " + options.engine() + ": " + descriptor.engine());
    }
    handle.enter(EngineCall.OPEN_SEGMENT);
    try {
      NixlPeer peer = peer(descriptor.name());
      peer.describe(descriptor); // may wait for the peer, and holds up no other
      return peer.id();
    } finally {
      handle.exit(EngineCall.OPEN_SEGMENT);
    }
  }

  /** {@return the peer of a name, made if it is new} */
  private NixlPeer peer(String name) {
    synchronized (peers) {
      for (NixlPeer peer : peers)
        if (peer.name().equals(name)) return peer;
      NixlPeer added = new NixlPeer(agent, peers.size(), name, name.equals(segmentName()),
          other -> isPeer(other, name), arena);
      peers.add(added);
      return added;
    }
  }

  private boolean isPeer(String name, String but) {
    return !name.equals(but) && peers.stream().anyMatch(peer -> peer.name().equals(name));
  }

  @Override
  public void closeSegment(int segment) {
    handle.enter(EngineCall.OPEN_SEGMENT);
    try {
      peer(segment).disconnect();
    } finally {
      handle.exit(EngineCall.OPEN_SEGMENT);
    }
  }

  @Override
  public EngineFlight flight(int capacity) {
    NativeArguments.count("capacity", capacity, capabilities.batchMax());
    return new NixlFlight(this, handle, capacity);
  }

  @Override
  public void notify(int segment, byte[] message) {
    NativeArguments.count("message length", message.length, capabilities.notificationBytesMax());
    handle.enter(EngineCall.NOTIFY);
    try {
      NixlPeer peer = peer(segment);
      int status = deliver(peer, message);
      NixlAgent.check("notify", status, message.length + " bytes to " + peer.name());
    } finally {
      handle.exit(EngineCall.NOTIFY);
    }
  }

  /** Hands a message to the transport; the caller has entered the handle. {@return the status} */
  int deliver(NixlPeer peer, byte[] message) {
    boolean delivered = false;
    peer.begin();
    try {
      int status = agent.notify(peer.nativeName(), message);
      delivered = status == 0;
      return status;
    } finally {
      peer.end(!delivered);
    }
  }

  @Override
  public void drainNotifications(Consumer<EngineNotification> receiver) {
    handle.enter(EngineCall.NOTIFICATIONS);
    List<EngineNotification> arrived;
    try {
      arrived = NixlNotices.take(agent.pointer());
    } finally {
      handle.exit(EngineCall.NOTIFICATIONS);
    }
    arrived.forEach(receiver);
  }

  /** {@return memory of this agent that is registered now} */
  NixlRanges local() {
    return local;
  }

  /**
   * {@return a peer by its segment id}
   *
   * @throws IllegalArgumentException if there is none
   */
  NixlPeer peer(int segment) {
    if (segment >= 0 && segment < peers.size()) return peers.get(segment);
    throw new IllegalArgumentException("segment must be one that was opened: " + segment);
  }

  @Override
  public List<String> close(Deadline deadline) {
    List<String> pending = handle.close(deadline);
    if (pending.isEmpty()) {
      OpenNatives.remove(this);
      synchronized (peers) {
        if (arena.scope().isAlive()) arena.close();
      }
    }
    return pending;
  }

  @Override
  public void close() {
    List<String> pending = close(Deadline.after(options.closeTimeout()));
    if (!pending.isEmpty()) {
      LOG.warn("{} was not destroyed within {} ms, still pending: {}; its memory stays in use", name(),
          options.closeTimeout().toMillis(), pending);
    }
  }
}
