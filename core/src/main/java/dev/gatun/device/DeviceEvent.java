package dev.gatun.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;

/**
 * A mark in a stream: done once all that was queued before it is. Recording again moves the mark. Usable by any thread.
 */
public final class DeviceEvent extends DeviceResource implements Completion {
  private final long handle;
  private final boolean timed;
  private final boolean ours;

  DeviceEvent(Device device, String name, long handle, boolean timed, boolean ours) {
    super(device, name);
    this.handle = handle;
    this.timed = timed;
    this.ours = ours;
  }

  /** The event behind something to wait for. */
  static DeviceEvent of(Completion completion) {
    return switch (completion) {
      case DeviceEvent event -> event;
      case WorkDone done -> done.event();
    };
  }

  /** {@return whether what it recorded last is done} True if it recorded nothing. Does not block. */
  @Override
  public boolean isDone() {
    enter();
    try {
      device().bind();
      try {
        return device().driver().isDone(handle);
      } finally {
        device().unbind();
      }
    } finally {
      exit();
    }
  }

  /**
   * Waits until what it recorded last is done. Blocks the calling thread, not a virtual thread's carrier.
   *
   * @param deadline when to give up
   * @throws DeadlineException if it is not done by then; the GPU goes on
   * @throws DeviceException if the work failed
   */
  @Override
  public void await(Deadline deadline) {
    for (int round = 0; !isDone(); round++) {
      if (deadline.reached()) throw new DeadlineException(this + " is not done: the GPU is still working");
      Pause.before(round, deadline.remainingNanos());
    }
  }

  /**
   * {@return milliseconds on the GPU from this event to a later one}
   *
   * @param later another event
   * @throws IllegalStateException if either takes no time or is not done
   */
  public float millisUntil(DeviceEvent later) {
    if (!timed || !later.timed) throw new IllegalStateException("events must be timed: " + this + ", " + later);
    if (!isDone() || !later.isDone()) throw new IllegalStateException("events must be done: " + this + ", " + later);
    later.requireOn(device());
    enter();
    try {
      later.enter();
      try {
        device().bind();
        try {
          return device().driver().elapsedMillis(handle, later.handle);
        } finally {
          device().unbind();
        }
      } finally {
        later.exit();
      }
    } finally {
      exit();
    }
  }

  long handle() {
    return handle;
  }

  @Override
  void awaitWork(Deadline deadline) {} // the driver keeps what the event stands for until it is done

  @Override
  void destroy() {
    if (!ours) return;
    device().bind();
    try {
      device().driver().destroyEvent(handle);
    } finally {
      device().unbind();
    }
  }
}
