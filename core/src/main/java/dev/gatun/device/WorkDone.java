package dev.gatun.device;

import dev.gatun.backend.Deadline;

/** An event of Gatun's own in the hands of others, who can wait for it and nothing else. */
final class WorkDone implements Completion {
  private final DeviceEvent event;

  WorkDone(DeviceEvent event) {
    this.event = event;
  }

  DeviceEvent event() {
    return event;
  }

  @Override
  public Device device() {
    return event.device();
  }

  @Override
  public boolean isDone() {
    return event.isDone();
  }

  @Override
  public void await(Deadline deadline) {
    event.await(deadline);
  }

  @Override
  public String toString() {
    return event.toString();
  }
}
