package dev.gatun.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;

/**
 * The end of work on a GPU, to wait for: by a thread here, by a stream in {@link DeviceStream#waitFor}. An event of the
 * caller's own is one, and so is what batches and pushes hand out as {@code done()}, which nobody but they can record or close;
 * once whoever handed it out is closed, every call throws {@link dev.gatun.backend.ClosedException}. Usable by any thread.
 */
public sealed interface Completion permits DeviceEvent, WorkDone {
  /** {@return the GPU it belongs to} */
  Device device();

  /**
   * {@return whether the work that it stands for now is done} True if there was none. Does not block.
   *
   * @throws DeviceException if the work failed
   */
  boolean isDone();

  /**
   * Waits until the work that it stands for now is done. Blocks the calling thread, not a virtual thread's carrier.
   *
   * @param deadline when to give up
   * @throws DeadlineException if it is not done by then; the GPU goes on
   * @throws DeviceException if the work failed
   */
  void await(Deadline deadline);
}
