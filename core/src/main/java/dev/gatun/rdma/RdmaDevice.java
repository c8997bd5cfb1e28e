package dev.gatun.rdma;

import dev.gatun.backend.ByteSize;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One RDMA device.
 *
 * @param name as libraries take it, such as {@code mlx5_0}
 * @param guid its number
 * @param firmware its firmware's version
 * @param regionBytesMax most bytes that it registers as one memory region; {@link #NO_LIMIT} if it sets none
 * @param regionCountMax most memory regions
 * @param ports its ports
 * @param fault why it cannot be used or asked; empty if it can
 * @param fix what to do about that; empty if nothing
 */
public record RdmaDevice(String name, long guid, String firmware, long regionBytesMax, int regionCountMax,
    List<RdmaPort> ports, String fault, String fix) {
  /** The region size of a device that sets no limit. */
  public static final long NO_LIMIT = Long.MAX_VALUE;

  /** Copies the list. */
  public RdmaDevice {
    ports = List.copyOf(ports);
  }

  /**
   * {@return a device that cannot be used}
   *
   * @param name of it
   * @param fault why not
   * @param fix what to do about it
   */
  public static RdmaDevice faulty(String name, String fault, String fix) {
    return new RdmaDevice(name, 0, "", NO_LIMIT, 0, List.of(), fault, fix);
  }

  /** {@return whether it can be opened and has a port that carries data} */
  public boolean isUsable() {
    return fault.isEmpty() && ports.stream().anyMatch(RdmaPort::isActive);
  }

  /** {@return it in words: firmware, limits, ports} */
  public String describe() {
    if (!fault.isEmpty()) return fault;
    String limit = regionBytesMax == NO_LIMIT
        ? "regions of any size"
        : "regions of up to "
            + ByteSize.format(regionBytesMax);
    String shown = ports.stream().map(RdmaPort::describe).collect(Collectors.joining("; "));
    return "firmware " + firmware + ", " + regionCountMax + ' ' + limit + "; "
        + (ports.isEmpty() ? "no ports" : shown);
  }

  /** {@return what to do so that it can be used, its ports' needs included; empty if nothing} */
  public String remedy() {
    if (!fault.isEmpty()) return fix;
    return ports.stream().map(RdmaPort::fix).filter(need -> !need.isEmpty()).distinct()
        .collect(Collectors.joining("; "));
  }
}
