package dev.gatun.connector;

import java.util.Objects;
import java.util.stream.IntStream;

/**
 * One port for each server of a prefill/decode fleet: base + group · serversPerGroup + server, prefill groups first. For
 * Mooncake it is the port of a prefill server's bootstrap service, which is also what the router is told; nobody searches
 * for a free one, so that both stay equal. For NIXL it is the port of the side channel.
 *
 * @param base port of the first server
 * @param prefillGroups engines that prefill
 * @param decodeGroups engines that decode
 * @param serversPerGroup servers of one engine: its data-parallel size
 */
public record BootstrapPorts(int base, int prefillGroups, int decodeGroups, int serversPerGroup) {
  /** Where SkyRL begins. */
  public static final int BASE = 5600;

  private static final int PORT_MAX = 65_535;

  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field that is out of range; the last port must be one too
   */
  public BootstrapPorts {
    atLeastOne("base", base);
    atLeastOne("prefillGroups", prefillGroups);
    atLeastOne("decodeGroups", decodeGroups);
    atLeastOne("serversPerGroup", serversPerGroup);
    long last = base + ((long) prefillGroups + decodeGroups) * serversPerGroup - 1;
    if (last > PORT_MAX) {
      throw new IllegalArgumentException("base must leave room for " + ((long) prefillGroups + decodeGroups)
          + " groups of " + serversPerGroup + " servers below " + (PORT_MAX + 1) + ": " + base);
    }
  }

  /**
   * {@return the port of a prefill server}
   *
   * @param group 0 to {@code prefillGroups} - 1
   * @param server 0 to {@code serversPerGroup} - 1
   * @throws IndexOutOfBoundsException for any other
   */
  public int prefill(int group, int server) {
    return port(Objects.checkIndex(group, prefillGroups), server);
  }

  /**
   * {@return the port of a decode server}
   *
   * @param group 0 to {@code decodeGroups} - 1
   * @param server 0 to {@code serversPerGroup} - 1
   * @throws IndexOutOfBoundsException for any other
   */
  public int decode(int group, int server) {
    return port(prefillGroups + Objects.checkIndex(group, decodeGroups), server);
  }

  /** {@return the ports of all prefill servers, group by group: what the router is told, in the order of their URLs} */
  public int[] prefill() {
    return IntStream.range(base, base + prefillGroups * serversPerGroup).toArray();
  }

  private int port(int group, int server) {
    return base + group * serversPerGroup + Objects.checkIndex(server, serversPerGroup);
  }

  private static void atLeastOne(String field, int value) {
    if (value < 1 || value > PORT_MAX) {
      throw new IllegalArgumentException(field + " must be 1 to " + PORT_MAX + ": " + value);
    }
  }
}
