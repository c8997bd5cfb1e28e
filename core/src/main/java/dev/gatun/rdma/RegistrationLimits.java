package dev.gatun.rdma;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What keeps memory from being registered with RDMA devices.
 *
 * @param lockedMemory what the kernel lets this process lock
 * @param devices those that the memory is registered with, each of which locks it
 */
public record RegistrationLimits(LockedMemory lockedMemory, List<RdmaDevice> devices) {
  /** Copies the list. */
  public RegistrationLimits {
    devices = List.copyOf(devices);
  }

  /**
   * {@return why host memory of this size is certain to be refused, and what to do; empty if it is not}
   *
   * @param bytes its size
   */
  public String refusal(long bytes) {
    return lockedMemory.forbids(bytes) ? shortage(bytes) : "";
  }

  /**
   * {@return what may be behind a refusal of memory of this size; empty if nothing is known}
   *
   * @param bytes its size
   */
  public String suspicion(long bytes) {
    StringBuilder text = new StringBuilder();
    if (!lockedMemory.hasRoom(bytes, Math.max(1, devices.size()))) text.append(shortage(bytes));
    for (RdmaDevice device : devices) {
      if (bytes <= device.regionBytesMax()) continue;
      text.append(text.isEmpty() ? "" : "; ").append(device.name()).append(" registers at most ")
          .append(device.regionBytesMax()).append(" bytes as one region: use several smaller slabs");
    }
    return text.toString();
  }

  private String shortage(long bytes) {
    return bytes + " bytes are locked once for each device (" + names() + "); the locked-memory limit is "
        + lockedMemory.limitBytes() + " bytes, of which " + lockedMemory.pinnedBytes() + " are in use: raise it ("
        + LockedMemory.FIX + ')';
  }

  private String names() {
    return devices.isEmpty()
        ? "none is known"
        : devices.size() + ": " + devices.stream().map(RdmaDevice::name).collect(Collectors.joining(", "));
  }
}
