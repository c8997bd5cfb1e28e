package dev.gatun.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;

/**
 * A queue of work on a GPU, done in order and in no order against other streams except through events. Usable by any
 * thread; work of several threads is queued in some order. Queueing allocates nothing and does not wait for the work, unless
 * some 800 operations are queued: then the calling thread waits, not its carrier, until the oldest have ended, a minute at most
 * (a {@link DeadlineException} then; the call has queued nothing).
 *
 * <p>A stream adopted from the engine can wait for events and record them, so that both sides are ordered; copies and kernels
 * of Gatun's go to streams of its own.
 */
public final class DeviceStream extends DeviceResource {
  private final long handle;
  private final boolean ours;
  private final QueueBound bound = new QueueBound(this);

  DeviceStream(Device device, String name, long handle, boolean ours) {
    super(device, name);
    this.handle = handle;
    this.ours = ours;
  }

  /**
   * Queues a copy between two memories of this GPU, of which at most one is host memory.
   *
   * @param target where to
   * @param targetOffset bytes from its start
   * @param source where from
   * @param sourceOffset bytes from its start
   * @param bytes size; 0 does nothing
   * @return this
   * @throws IllegalArgumentException if a range does not lie within its memory, both are host memory, a memory is another
   *     GPU's, or this stream is adopted
   */
  public DeviceStream copy(DeviceMemory target, long targetOffset, DeviceMemory source, long sourceOffset, long bytes) {
    requireOurs();
    target.requireOn(device());
    source.requireOn(device());
    target.requireRange("targetOffset", targetOffset, bytes);
    source.requireRange("sourceOffset", sourceOffset, bytes);
    if (target instanceof PinnedSlab && source instanceof PinnedSlab) {
      throw new IllegalArgumentException("one side of a copy must be device memory: " + target + ", " + source);
    }
    if (bytes == 0) return this;
    enter();
    try {
      target.enter();
      try {
        source.enter();
        try {
          admit(1);
          queueCopy(target, target.address() + targetOffset, source, source.address() + sourceOffset, bytes);
        } finally {
          source.exit();
        }
      } finally {
        target.exit();
      }
    } finally {
      exit();
    }
    return this;
  }

  private void queueCopy(DeviceMemory target, long to, DeviceMemory source, long from, long bytes) {
    CudaDriver driver = device().driver();
    device().bind();
    try {
      if (source instanceof PinnedSlab) driver.copyToDevice(to, from, bytes, handle);
      else if (target instanceof PinnedSlab) driver.copyToHost(to, from, bytes, handle);
      else
        driver.copyOnDevice(to, from, bytes, handle);
    } finally {
      device().unbind();
    }
  }

  /**
   * Queues filling device memory with one value.
   *
   * @param target where
   * @param offset bytes from its start
   * @param bytes size; 0 does nothing
   * @param value for every byte
   * @return this
   * @throws IllegalArgumentException as {@link #copy}
   */
  public DeviceStream fill(DeviceSlab target, long offset, long bytes, byte value) {
    requireOurs();
    target.requireOn(device());
    target.requireRange("offset", offset, bytes);
    if (bytes == 0) return this;
    enter();
    try {
      target.enter();
      try {
        admit(1);
        device().bind();
        try {
          device().driver().fill(target.address() + offset, value, bytes, handle);
        } finally {
          device().unbind();
        }
      } finally {
        target.exit();
      }
    } finally {
      exit();
    }
    return this;
  }

  /**
   * Queues the event: it is done once all that is queued so far is.
   *
   * @param event what to record
   * @return this
   */
  public DeviceStream record(DeviceEvent event) {
    event.requireOn(device());
    enter();
    try {
      event.enter();
      try {
        admit(1);
        device().bind();
        try {
          device().driver().record(event.handle(), handle);
        } finally {
          device().unbind();
        }
      } finally {
        event.exit();
      }
    } finally {
      exit();
    }
    return this;
  }

  /**
   * Queues a wait: what is queued from now on starts after the work that the completion stands for now, on whatever stream:
   * for an event what it recorded last. The calling thread does not wait.
   *
   * @param completion what to wait for; nothing if there was no such work
   * @return this
   */
  public DeviceStream waitFor(Completion completion) {
    DeviceEvent event = DeviceEvent.of(completion);
    event.requireOn(device());
    enter();
    try {
      event.enter();
      try {
        admit(1);
        device().bind();
        try {
          device().driver().waitFor(handle, event.handle());
        } finally {
          device().unbind();
        }
      } finally {
        event.exit();
      }
    } finally {
      exit();
    }
    return this;
  }

  /** {@return whether everything queued is done} Does not block. */
  public boolean isIdle() {
    enter();
    try {
      device().bind();
      try {
        return device().driver().isIdle(handle);
      } finally {
        device().unbind();
      }
    } finally {
      exit();
    }
  }

  /**
   * Waits until nothing is queued. Blocks the calling thread, not a virtual thread's carrier.
   *
   * @param deadline when to give up
   * @throws DeadlineException if work is queued then; the GPU goes on
   * @throws DeviceException if the work failed
   */
  public void await(Deadline deadline) {
    for (int round = 0; !isIdle(); round++) {
      if (deadline.reached()) throw new DeadlineException(this + " is not done: the GPU is still working");
      Pause.before(round, deadline.remainingNanos());
    }
  }

  long handle() {
    return handle;
  }

  /**
   * Waits until there is room for some operations. Before every call that queues, with no context bound; what the engine
   * queues on its own streams is not known.
   */
  void admit(int operations) {
    if (ours) bound.admit(operations);
  }

  boolean isOurs() {
    return ours;
  }

  /** Kernels and copies only go where the device can wait for them. */
  void requireOurs() {
    if (!ours) {
      throw new IllegalArgumentException(
          this + " is the engine's: queue the work on a stream of Device.newStream and order both by events");
    }
  }

  /** Waits for what is queued now, for who built on it; one that is closed has waited for its work. */
  void awaitQueued(Deadline deadline, Object closing) {
    if (isOpen()) device().awaitQueued(deadline, closing, handle);
  }

  @Override
  void awaitWork(Deadline deadline) {
    if (ours) device().awaitQueued(deadline, this, handle);
  }

  @Override
  void destroy() {
    if (!ours) return;
    device().bind();
    try {
      bound.destroy();
      device().driver().destroyStream(handle);
    } finally {
      device().unbind();
    }
  }
}
