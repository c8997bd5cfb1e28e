package dev.gatun.device;

import java.util.List;

/**
 * What one way to the GPU driver found.
 *
 * @param name of the way, such as {@code ffm}
 * @param version what the driver speaks, such as {@code CUDA 13.0}; empty if there is no driver
 * @param devices the GPUs that this process sees
 * @param missing what is missing and why; empty if nothing
 * @param fix what to do about it; empty if nothing
 */
public record DriverReport(String name, String version, List<DeviceInfo> devices, String missing, String fix) {
  /** Copies the list. */
  public DriverReport {
    devices = List.copyOf(devices);
  }

  /** {@return whether a {@link Device} can be opened this way} */
  public boolean usable() {
    return missing.isEmpty();
  }
}
