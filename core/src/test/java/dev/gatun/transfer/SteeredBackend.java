package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineBackendProvider;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.backend.SegmentDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** The embedded engine; a test says what comes before its calls, and what it claims to be able to do. */
public final class SteeredBackend implements EngineBackend {
  private final EngineBackend real = ServiceLoader.load(EngineBackendProvider.class).stream()
      .map(ServiceLoader.Provider::get).filter(provider -> provider.engine().equals(EngineOptions.LOOPBACK)).findFirst()
      .orElseThrow().open(EngineOptions.loopback());

  /** Sees each message of a hand-over before it is sent; may wait or throw. */
  volatile Consumer<HandoverMessage> beforeNotify = message -> {};
  /** Sees each opening of a segment; may wait or throw. */
  volatile Consumer<SegmentDescriptor> beforeOpen = descriptor -> {};
  /** Runs before messages are taken in; may throw. */
  volatile Runnable beforeDrain = () -> {};
  /** Changes what the engine claims. */
  volatile UnaryOperator<EngineCapabilities> claims = can -> can;

  /** Is told where memory lies that is about to be registered; may throw. */
  volatile Consumer<String> beforeRegister = location -> {};
  /** Whether it takes what Java cannot touch. */
  volatile boolean takesDeviceMemory;

  /** What it knows about registering memory. */
  volatile RegistrationAdvice advice = RegistrationAdvice.NONE;

  /** {@return the embedded engine, claiming that what failed may still land} */
  public static EngineBackend unsettled() {
    SteeredBackend backend = new SteeredBackend();
    backend.claims = SteeredBackend::unsettled;
    return backend;
  }

  /** {@return what the embedded engine can do, with another limit of requests at once} */
  static UnaryOperator<EngineCapabilities> atMost(int inFlightMax) {
    return can -> new EngineCapabilities(can.localRegistration(), can.push(), can.pull(), can.notifications(),
        can.batchMax(), inFlightMax, can.notificationBytesMax(), can.crossProcess(), can.failuresSettle());
  }

  /** {@return what the embedded engine can do, but with failures of unknown extent} */
  static EngineCapabilities unsettled(EngineCapabilities can) {
    return new EngineCapabilities(can.localRegistration(), can.push(), can.pull(), can.notifications(), can.batchMax(),
        can.inFlightMax(), can.notificationBytesMax(), can.crossProcess(), false);
  }

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public String engine() {
    return real.engine();
  }

  @Override
  public String segmentName() {
    return real.segmentName();
  }

  @Override
  public EngineCapabilities capabilities() {
    return claims.apply(real.capabilities());
  }

  @Override
  public byte[] metadata() {
    return real.metadata();
  }

  @Override
  public void register(MemorySegment memory, String location) {
    beforeRegister.accept(location);
    if (takesDeviceMemory) real.register(touchable(memory), MemoryRange.ANYWHERE); // it knows no other place
    else
      real.register(memory, location);
  }

  @Override
  public boolean takesDeviceMemory() {
    return takesDeviceMemory;
  }

  @Override
  public RegistrationAdvice registrationAdvice() {
    return advice;
  }

  @Override
  public void unregister(MemorySegment memory) {
    real.unregister(takesDeviceMemory ? touchable(memory) : memory);
  }

  private static MemorySegment touchable(MemorySegment memory) {
    return MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize());
  }

  @Override
  public int openSegment(SegmentDescriptor descriptor) {
    beforeOpen.accept(descriptor);
    return real.openSegment(descriptor);
  }

  @Override
  public void closeSegment(int segment) {
    real.closeSegment(segment);
  }

  @Override
  public EngineFlight flight(int capacity) {
    return real.flight(capacity);
  }

  @Override
  public void notify(int segment, byte[] message) {
    HandoverMessage known = HandoverMessage.decode(message);
    if (known != null) beforeNotify.accept(known);
    real.notify(segment, message);
  }

  @Override
  public void drainNotifications(Consumer<EngineNotification> receiver) {
    beforeDrain.run();
    real.drainNotifications(receiver);
  }

  @Override
  public List<String> close(Deadline deadline) {
    return real.close(deadline);
  }

  @Override
  public void close() {
    real.close();
  }
}
