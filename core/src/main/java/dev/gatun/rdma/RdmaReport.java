package dev.gatun.rdma;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What libibverbs shows on this machine.
 *
 * @param library the library that was asked; empty if there is none
 * @param registersDmabuf whether it can register memory that another driver exports, such as a GPU's, without a
 *        peer-memory module
 * @param devices what it shows
 * @param missing what is missing and why; empty if there are devices
 * @param fix what to do about that; empty if nothing
 */
public record RdmaReport(String library, boolean registersDmabuf, List<RdmaDevice> devices, String missing,
    String fix) {
  /** Copies the list. */
  public RdmaReport {
    devices = List.copyOf(devices);
  }

  /** {@return the devices that can be opened and have a port that carries data} */
  public List<RdmaDevice> usable() {
    return devices.stream().filter(RdmaDevice::isUsable).toList();
  }

  /** {@return it in one sentence without a full stop: what is missing and how to get it, or how each device is} */
  public String summary() {
    if (!missing.isEmpty()) return missing + (fix.isEmpty() ? "" : ": " + fix);
    return devices.stream().map(RdmaReport::line).collect(Collectors.joining("; "));
  }

  private static String line(RdmaDevice device) {
    String remedy = device.isUsable() ? "" : device.remedy();
    return device.name() + ": " + device.describe() + (remedy.isEmpty() ? "" : " (" + remedy + ')');
  }
}
