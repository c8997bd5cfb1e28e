package dev.gatun.transfer.device;

import dev.gatun.backend.GatunException;
import dev.gatun.device.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a process can do with its device memory, as its peer needs to know to choose a path. Travels out of band, as a map of
 * texts. What is missing is said in words; empty if nothing is.
 *
 * @param host names the running kernel, which processes of a machine share, containers too
 * @param processes names the namespace of its process numbers
 * @param user whom it runs as
 * @param driver the driver of its GPU, such as {@code ffm}
 * @param sharingMissing why its memory cannot be shared with another process
 * @param sameHostTried how an attempt to share failed
 * @param nixlMissing why NIXL cannot move its device memory
 * @param engine kind of its transfer engine for host memory, empty if it has none
 */
public record DeviceCapabilities(String host, String processes, String user, String driver, String sharingMissing,
    String sameHostTried, String nixlMissing, String engine) {
  private static final String HOST_MEMORY = "host";

  /**
   * Looks at this process. Blocks for a moment.
   *
   * @param gpu its GPU
   * @param nixlMissing why NIXL cannot move its device memory, empty if it can
   * @param engine kind of its transfer engine for host memory, such as {@code loopback}, empty if it has none
   * @return what it can do
   * @throws GatunException if the kernel does not tell
   */
  public static DeviceCapabilities of(Device gpu, String nixlMissing, String engine) {
    try {
      String host = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
      String processes = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
      return new DeviceCapabilities(host, processes, PeerUser.own().getName(), gpu.driverName(), "", "", nixlMissing,
          engine);
    } catch (IOException e) {
      throw new GatunException("capabilities: the kernel does not name itself or this process: " + e.getMessage(), e);
    }
  }

  /**
   * {@return the same, for memory that cannot be shared}
   *
   * @param why in words
   */
  public DeviceCapabilities withoutSharing(String why) {
    return new DeviceCapabilities(host, processes, user, driver, why, sameHostTried, nixlMissing, engine);
  }

  /**
   * {@return the same, once the same-host path was tried in vain}
   *
   * @param why in words
   */
  public DeviceCapabilities afterSameHostFailed(String why) {
    return new DeviceCapabilities(host, processes, user, driver, sharingMissing, why, nixlMissing, engine);
  }

  /**
   * {@return the same, once it is known whether NIXL can move its device memory}
   *
   * @param missing why not, as {@link NixlTrial#missing} answers; empty if it can
   */
  public DeviceCapabilities withNixl(String missing) {
    return new DeviceCapabilities(host, processes, user, driver, sharingMissing, sameHostTried, missing, engine);
  }

  boolean isHostMemory() {
    return driver.equals(HOST_MEMORY);
  }

  /** {@return it as texts by name, for {@link #of(Map)}} */
  public Map<String, String> map() {
    Map<String, String> map = new LinkedHashMap<>();
    map.put("host", host);
    map.put("processes", processes);
    map.put("user", user);
    map.put("driver", driver);
    map.put("sharingMissing", sharingMissing);
    map.put("sameHostTried", sameHostTried);
    map.put("nixlMissing", nixlMissing);
    map.put("engine", engine);
    return map;
  }

  /**
   * {@return what {@link #map} gave}
   *
   * @param map texts by name
   * @throws IllegalArgumentException if one is missing, or is no text
   */
  public static DeviceCapabilities of(Map<?, ?> map) {
    return new DeviceCapabilities(text(map, "host"), text(map, "processes"), text(map, "user"), text(map, "driver"),
        text(map, "sharingMissing"), text(map, "sameHostTried"), text(map, "nixlMissing"), text(map, "engine"));
  }

  private static String text(Map<?, ?> map, String name) {
    if (map.get(name) instanceof String text) return text;
    throw new IllegalArgumentException("capabilities must have a text \"" + name + "\": " + map);
  }
}
