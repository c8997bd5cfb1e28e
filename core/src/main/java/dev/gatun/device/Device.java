package dev.gatun.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.MemoryRange;
import dev.gatun.memory.Slab;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One GPU, through the context that the whole process shares on it. The context is bound to a thread only within a call,
 * and what was bound before is bound again after it, so any thread may call, virtual ones too, and no other GPU is touched.
 */
public final class Device implements AutoCloseable {
  private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  /** The driver whose GPUs are made of host memory. */
  private static final String HOST_DRIVER = "host";

  private final CudaDriver driver;
  private final DeviceInfo info;
  private final long context;
  private final Set<DeviceResource> resources = new LinkedHashSet<>();
  private boolean open = true;

  Device(CudaDriver driver, int ordinal) {
    this.driver = driver;
    info = driver.describe(ordinal);
    context = driver.retainContext(ordinal);
  }

  /**
   * Opens a GPU through the driver that the system property {@value CudaDrivers#PROPERTY} names. Blocks, up to a second if
   * the process has not used it yet; takes some hundred MB of its memory then.
   *
   * @param ordinal its number, from 0, among those that this process sees
   * @return the GPU; the caller closes it
   * @throws DriverUnavailableException if there is no driver; the message says what is missing
   * @throws IllegalArgumentException if there is no such GPU
   */
  public static Device open(int ordinal) {
    return open(CudaDrivers.selected(), ordinal);
  }

  /**
   * Opens a GPU through a driver of choice.
   *
   * @param driver one of {@link CudaDrivers#names()}
   * @param ordinal as {@link #open(int)}
   * @return the GPU; the caller closes it
   */
  public static Device open(String driver, int ordinal) {
    CudaDriver opened = CudaDrivers.open(driver);
    int count = opened.deviceCount();
    if (ordinal < 0 || ordinal >= count) {
      throw new IllegalArgumentException(String.format(Locale.ROOT,
          "ordinal must be one of %d GPUs that this process sees (CUDA_VISIBLE_DEVICES): %d", count, ordinal));
    }
    return new Device(opened, ordinal);
  }

  /** {@return what the GPU is} */
  public DeviceInfo info() {
    return info;
  }

  /** {@return the name of the driver through which it was opened} */
  public String driverName() {
    return driver.name();
  }

  /** {@return free bytes of its memory now, whoever took the rest} */
  public synchronized long freeBytes() {
    requireOpen("freeBytes");
    bind();
    try {
      return driver.freeBytes();
    } finally {
      unbind();
    }
  }

  /**
   * Allocates device memory. Blocks.
   *
   * @param name for messages
   * @param bytes its size, above 0
   * @return memory of undefined content; the caller closes it
   * @throws DeviceException if there is not enough
   */
  public DeviceSlab allocate(String name, long bytes) {
    if (bytes <= 0) throw new IllegalArgumentException("bytes must be positive: " + bytes);
    return make("allocate " + name, () -> new DeviceSlab(this, name, driver.allocate(bytes), bytes, true));
  }

  /**
   * Makes a slab of device memory that somebody else owns, such as a tensor of the engine's cache. Restricted. Checked: that
   * first and last byte are memory of this GPU. Not checkable: that the owner keeps it while transfers run.
   *
   * @param name for messages
   * @param address where it starts
   * @param bytes its size, above 0
   * @return the slab; closing it waits for transfers and frees nothing
   * @throws IllegalCallerException if the caller's module has no native access
   * @throws IllegalArgumentException if it is not memory of this GPU
   */
  public DeviceSlab adopt(String name, long address, long bytes) {
    RestrictedCall.require(CALLER.getCallerClass(), "Device.adopt");
    if (bytes <= 0 || address + bytes - 1 < address) {
      throw new IllegalArgumentException("bytes must be positive and end within the address space: " + bytes);
    }
    return make("adopt " + name, () -> {
      if (!driver.isDeviceMemory(address, info.ordinal())
          || !driver.isDeviceMemory(address + bytes - 1, info.ordinal())) {
        throw new IllegalArgumentException(String.format(Locale.ROOT,
            "address must be of %d bytes of memory of %s: 0x%x", bytes, this, address));
      }
      return new DeviceSlab(this, name, address, bytes, false);
    });
  }

  /**
   * Pins a host slab in place, so that the GPU copies from and to it at link speed. Blocks, some 40 ms a GiB. A slab can be
   * pinned once in a process.
   *
   * @param slab what to pin; it does not close before the result does
   * @return the pinned slab; the caller closes it
   * @throws IllegalStateException if this GPU has pinned it
   * @throws DeviceException if the driver refuses, for lack of lockable memory or because it is pinned already
   */
  public synchronized PinnedSlab pin(Slab slab) {
    requireOpen("pin " + slab);
    for (DeviceResource known : resources) {
      if (known instanceof PinnedSlab pinned && pinned.slab().equals(slab)) {
        throw new IllegalStateException(slab + " is already pinned for " + this);
      }
    }
    PinnedSlab pinned = new PinnedSlab(this, slab);
    pinned.register();
    return known(pinned);
  }

  /**
   * Shares device memory with other processes of this host and user. The driver shares whole allocations: what else lies in
   * the same one is within their reach as well.
   *
   * @param slab memory from {@code cuMemAlloc} or {@code cudaMalloc}; not from a pool of virtual memory (PyTorch's
   *     expandable segments), which the driver refuses to share this way
   * @return the shared slab; the caller closes it when nobody uses the share any more
   * @throws IllegalArgumentException if the slab goes beyond the allocation in which it begins: share each part as a slab
   * @throws DeviceException if the driver refuses
   */
  public SharedSlab share(DeviceSlab slab) {
    slab.requireOn(this);
    return make("share " + slab, () -> {
      long allocated = driver.bytesFrom(slab.address());
      if (slab.byteSize() > allocated) {
        throw new IllegalArgumentException(
            slab + " must lie in one allocation to be shared: the one in which it begins ends"
                + " after " + allocated + " of its " + slab.byteSize() + " bytes");
      }
      ExportedMemory exported = driver.exportMemory(slab.address());
      SharedSlab shared = new SharedSlab(slab, new SlabShare(ProcessHandle.current().pid(), info.uuid(),
          exported.handle(), exported.offset(), slab.byteSize()));
      slab.hold(shared);
      return shared;
    });
  }

  /**
   * Opens memory that another process shares. Restricted, since it gives access to that process's memory. Not checkable: that
   * the process keeps it allocated; if it ends, its memory is freed when the last one closes it.
   *
   * @param name for messages
   * @param share from {@link SharedSlab#share()} of a living process that sees its GPU, as this one must too
   * @return the memory; the caller closes it
   * @throws IllegalCallerException if the caller's module has no native access
   * @throws IllegalArgumentException if this process shares it: use the slab itself; or if the share goes beyond the
   *     allocation that the driver opens for it
   * @throws DeviceException if the driver refuses: the process is gone, or the GPU is out of this one's reach
   */
  public PeerSlab attach(String name, SlabShare share) {
    RestrictedCall.require(CALLER.getCallerClass(), "Device.attach");
    if (share.pid() == ProcessHandle.current().pid()) {
      throw new IllegalArgumentException("share must be another process's, this one has the slab itself: " + share);
    }
    return make("attach " + name, () -> {
      long base = driver.importMemory(share.handle());
      try {
        requireWithin(share, driver.bytesFrom(base));
        return new PeerSlab(this, name, base, share);
      } catch (RuntimeException | Error e) {
        driver.closeImported(base);
        throw e;
      }
    });
  }

  /** What a share says of itself is a peer's word: beyond the allocation lies other memory of this process. */
  private static void requireWithin(SlabShare share, long allocated) {
    if (share.offset() > allocated || share.bytes() > allocated - share.offset()) {
      throw new IllegalArgumentException(String.format(Locale.ROOT,
          "share must lie in its allocation of %d bytes: %d from %d on", allocated, share.bytes(), share.offset()));
    }
  }

  /**
   * Creates a stream.
   *
   * @param name for messages
   * @param priority of its kernels
   * @return the stream; the caller closes it
   */
  public DeviceStream newStream(String name, StreamPriority priority) {
    return make("newStream " + name, () -> new DeviceStream(this, name, driver.createStream(priority), true));
  }

  /**
   * Makes a stream of one that the engine owns, to order its work and ours by events. Restricted: a wrong handle can end the
   * process.
   *
   * @param name for messages
   * @param handle the engine's stream; 0 is the default stream
   * @return the stream; closing it destroys nothing
   * @throws IllegalCallerException if the caller's module has no native access
   */
  public DeviceStream adoptStream(String name, long handle) {
    RestrictedCall.require(CALLER.getCallerClass(), "Device.adoptStream");
    return make("adoptStream " + name, () -> new DeviceStream(this, name, handle, false));
  }

  /**
   * Creates an event that marks and does not take the time.
   *
   * @param name for messages
   * @return the event; the caller closes it
   */
  public DeviceEvent newEvent(String name) {
    return newEvent(name, false);
  }

  /**
   * Creates an event that takes the time, for {@link DeviceEvent#millisUntil}.
   *
   * @param name for messages
   * @return the event; the caller closes it
   */
  public DeviceEvent newTimedEvent(String name) {
    return newEvent(name, true);
  }

  private DeviceEvent newEvent(String name, boolean timed) {
    return make("newEvent " + name, () -> new DeviceEvent(this, name, driver.createEvent(timed), timed, true));
  }

  /**
   * Makes an event of one that the engine owns and records. Restricted as {@link #adoptStream} is.
   *
   * @param name for messages
   * @param handle the engine's event
   * @return the event; closing it destroys nothing
   * @throws IllegalCallerException if the caller's module has no native access
   */
  public DeviceEvent adoptEvent(String name, long handle) {
    RestrictedCall.require(CALLER.getCallerClass(), "Device.adoptEvent");
    if (handle == 0) throw new IllegalArgumentException("handle must not be 0");
    return make("adoptEvent " + name, () -> new DeviceEvent(this, name, handle, false, false));
  }

  /**
   * Waits until the GPU has done all that is queued now on streams of {@link #newStream}. Blocks.
   *
   * @param deadline when to give up
   * @throws InUseException if it has not by then
   */
  public void drain(Deadline deadline) {
    awaitQueued(deadline, "drain " + this);
  }

  /** {@return whether it can be used} */
  public synchronized boolean isOpen() {
    return open;
  }

  /**
   * Gives the process's context back. Idempotent.
   *
   * @throws InUseException if resources of it are open; the message lists them
   */
  @Override
  public synchronized void close() {
    if (!open) return;
    if (!resources.isEmpty()) throw new InUseException("close " + this + " refused: open are " + resources);
    driver.releaseContext(info.ordinal());
    open = false;
  }

  @Override
  public String toString() {
    return "GPU " + info.ordinal() + " (" + info.name() + ')';
  }

  /** {@return where its memory is, for transfer engines} */
  String place() {
    return driver.name().equals(HOST_DRIVER) ? MemoryRange.ANYWHERE : "cuda:" + info.ordinal();
  }

  CudaDriver driver() {
    return driver;
  }

  /** Binds the context to this thread; see {@link CudaDriver#pushContext} for what must not happen before unbind. */
  void bind() {
    driver.pushContext(context);
  }

  void unbind() {
    driver.popContext();
  }

  synchronized void forget(DeviceResource resource) {
    resources.remove(resource);
  }

  /** Makes a resource with the context bound. The device does not close in between. */
  synchronized <R extends DeviceResource> R make(String what, Supplier<R> resource) {
    requireOpen(what);
    bind();
    try {
      return known(resource.get());
    } finally {
      unbind();
    }
  }

  /** Keeps account of a resource that was made of others of this device. */
  synchronized <R extends DeviceResource> R known(R resource) {
    requireOpen("make " + resource);
    resources.add(resource);
    return resource;
  }

  /** Waits for what is queued now, on all streams; work queued meanwhile does not prolong the wait. */
  void awaitQueued(Deadline deadline, Object closing) {
    for (DeviceStream stream : streams()) {
      if (!stream.beginExclusive(deadline, closing)) continue; // closed: it has waited for its work
      try {
        awaitQueued(deadline, closing, stream.handle());
      } finally {
        stream.endExclusive();
      }
    }
  }

  void awaitQueued(Deadline deadline, Object closing, long stream) {
    if (query(stream, true)) return;
    long event;
    bind();
    try {
      event = driver.createEvent(false);
      driver.record(event, stream);
    } finally {
      unbind();
    }
    try {
      for (int round = 0; !query(event, false); round++) {
        if (deadline.reached()) throw new InUseException("close " + closing + " refused: the GPU is still working");
        Pause.before(round, deadline.remainingNanos());
      }
    } finally {
      bind();
      try {
        driver.destroyEvent(event);
      } finally {
        unbind();
      }
    }
  }

  private boolean query(long handle, boolean stream) {
    bind();
    try {
      return stream ? driver.isIdle(handle) : driver.isDone(handle);
    } finally {
      unbind();
    }
  }

  private synchronized List<DeviceStream> streams() {
    List<DeviceStream> streams = new ArrayList<>();
    for (DeviceResource resource : resources)
      if (resource instanceof DeviceStream stream && stream.isOurs()) streams.add(stream);
    return streams;
  }

  private void requireOpen(String what) {
    if (!open) throw new ClosedException(what + " refused: " + this + " is closed");
  }
}
