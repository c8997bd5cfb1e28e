package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.bindings.mooncake.MooncakeEngineC;
import dev.gatun.internal.ffm.CStrings;
import dev.gatun.internal.ffm.NativeArguments;
import dev.gatun.internal.ffm.NativeHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine behind the Mooncake C ABI, whichever library exports it. Each call checks its arguments, enters the handle,
 * crosses once and leaves.
 */
final class MooncakeEngineBackend implements EngineBackend {
  private static final Logger LOG = LoggerFactory.getLogger(MooncakeEngineBackend.class);

  private final NativeHandle<EngineCall> handle;
  private final EngineOptions options;
  private final String segmentName;
  private final EngineCapabilities capabilities;
  private final NoticeSender sender;
  private final RegistrationAdvice advice;

  MooncakeEngineBackend(NativeHandle<EngineCall> handle, EngineOptions options, String segmentName,
      EngineCapabilities capabilities) {
    this.handle = handle;
    this.options = options;
    this.segmentName = segmentName;
    this.capabilities = capabilities;
    sender = new NoticeSender(name());
    advice = RdmaAdvice.of(options.protocol(), options.devices());
  }

  @Override
  public String name() {
    return options.engine() + ' ' + segmentName;
  }

  @Override
  public String engine() {
    return options.engine();
  }

  @Override
  public String segmentName() {
    return segmentName;
  }

  @Override
  public EngineCapabilities capabilities() {
    return capabilities;
  }

  /** The name is enough: peers fetch the rest from this engine or from the metadata service. */
  @Override
  public byte[] metadata() {
    return new byte[0];
  }

  @Override
  public void register(MemorySegment memory, String location) {
    NativeArguments.writable("memory", memory, Math.max(1, memory.byteSize()));
    MemorySegment engine = handle.enter(EngineCall.REGISTER);
    try (Arena call = Arena.ofConfined()) { // per call
      check("register", MooncakeEngineC.registerLocalMemory(engine, memory, memory.byteSize(),
          CStrings.encode(call, "location", location), 1), memory);
    } finally {
      handle.exit(EngineCall.REGISTER);
    }
  }

  @Override
  public RegistrationAdvice registrationAdvice() {
    return advice;
  }

  @Override
  public void unregister(MemorySegment memory) {
    MemorySegment engine = handle.enter(EngineCall.UNREGISTER);
    try {
      check("unregister", MooncakeEngineC.unregisterLocalMemory(engine, memory), memory);
    } finally {
      handle.exit(EngineCall.UNREGISTER);
    }
  }

  /** Without the cache: a peer that was restarted under its old name, or has registered more, is looked at anew. */
  @Override
  public int openSegment(SegmentDescriptor descriptor) {
    if (!descriptor.engine().equals(options.engine())) {
      throw new IllegalArgumentException(
          "descriptor must be of engine " + options.engine() + ": " + descriptor.engine());
    }
    MemorySegment engine = handle.enter(EngineCall.OPEN_SEGMENT);
    try (Arena call = Arena.ofConfined()) { // per call
      int id = MooncakeEngineC.openSegmentNoCache(engine, CStrings.encode(call, "name", descriptor.name()));
      if (id >= 0) return id;
      throw new EngineException("openSegment", EngineCode.METADATA, id,
          descriptor.name() + ": it does not exist or cannot be reached");
    } finally {
      handle.exit(EngineCall.OPEN_SEGMENT);
    }
  }

  /** The library keeps a segment for as long as the engine lives. */
  @Override
  public void closeSegment(int segment) {}

  @Override
  public EngineFlight flight(int capacity) {
    NativeArguments.count("capacity", capacity, capabilities.batchMax());
    return new MooncakeFlight(this, handle, capacity);
  }

  @Override
  public void notify(int segment, byte[] message) {
    NativeArguments.count("message length", message.length, capabilities.notificationBytesMax());
    MemorySegment engine = handle.enter(EngineCall.NOTIFY);
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment notice = NoticeCodec.encode(call, segmentName, message);
      int code = MooncakeEngineC.genNotifyInEngine(engine, segment, notice);
      if (code != 0) {
        throw new EngineException("notify", EngineCode.ofMooncake(code), code,
            message.length + " bytes to segment " + segment);
      }
    } finally {
      handle.exit(EngineCall.NOTIFY);
    }
  }

  /** Delivers without making the caller wait. {@return how it stands} */
  NoticeSender.Delivery notifyAside(int segment, byte[] message) {
    return sender.send(segment, () -> notify(segment, message));
  }

  @Override
  public void drainNotifications(Consumer<EngineNotification> receiver) {
    MemorySegment engine = handle.enter(EngineCall.NOTIFICATIONS);
    List<EngineNotification> arrived;
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment size = call.allocate(JAVA_INT);
      MemorySegment notices = MooncakeEngineC.getNotifsFromEngine(engine, size);
      int count = size.get(JAVA_INT, 0);
      if (notices.address() == 0) return;
      try {
        arrived = NoticeCodec.decode(notices, count);
      } finally {
        MooncakeEngineC.freeNotifsMsgBuf(notices, count);
      }
    } finally {
      handle.exit(EngineCall.NOTIFICATIONS);
    }
    arrived.forEach(receiver);
  }

  @Override
  public List<String> close(Deadline deadline) {
    sender.close();
    List<String> pending = handle.close(deadline);
    if (pending.isEmpty()) OpenNatives.remove(this);
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

  private static void check(String operation, int code, MemorySegment memory) {
    if (code == 0) return;
    throw new EngineException(operation, EngineCode.ofMooncake(code), code,
        "address " + Long.toHexString(memory.address()) + ", " + memory.byteSize() + " bytes");
  }
}
