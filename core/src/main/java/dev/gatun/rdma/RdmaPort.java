package dev.gatun.rdma;

import java.util.List;

/**
 * One port of an RDMA device.
 *
 * @param number counted from 1
 * @param state whether it carries data
 * @param linkLayer what carries it
 * @param mtuBytes largest packet in use, 0 if unknown; both ends must agree on it
 * @param mtuBytesMax largest packet that it could use
 * @param megabitsPerSecond its rate, 0 if unknown
 * @param lid its InfiniBand address, 0 on Ethernet
 * @param gids its addresses in use
 * @param fault why nothing else is known; empty if it could be asked
 */
public record RdmaPort(int number, PortState state, LinkLayer linkLayer, int mtuBytes, int mtuBytesMax,
    int megabitsPerSecond, int lid, List<RdmaGid> gids, String fault) {
  private static final int MEGA_TO_GIGA = 1000;

  /** Copies the list. */
  public RdmaPort {
    gids = List.copyOf(gids);
  }

  /** {@return whether it carries data} */
  public boolean isActive() {
    return state == PortState.ACTIVE;
  }

  /** {@return it in words, such as {@code port 1 active, Ethernet, 200 Gb/s, MTU 4096, GID 3 RoCE v2 10.0.0.1}} */
  public String describe() {
    if (!fault.isEmpty()) return "port " + number + ": " + fault;
    StringBuilder text = new StringBuilder("port ").append(number).append(' ').append(state.label()).append(", ")
        .append(linkLayer.label());
    if (megabitsPerSecond > 0) text.append(", ").append(megabitsPerSecond / MEGA_TO_GIGA).append(" Gb/s");
    if (mtuBytes > 0) text.append(", MTU ").append(mtuBytes);
    if (lid > 0) text.append(", LID ").append(lid);
    for (RdmaGid gid : gids)
      text.append(", ").append(gid.describe());
    return text.toString();
  }

  /** {@return what to do so that it carries data; empty if it does} */
  public String fix() {
    if (!fault.isEmpty()) return "see the kernel's log (dmesg)";
    return switch (state) {
      case ACTIVE -> linkLayer == LinkLayer.ETHERNET && gids.isEmpty()
          ? "give port " + number + "'s network interface an IP address: RoCE needs the GID that comes of it"
          : "";
      case INIT, ARMED -> "start a subnet manager (opensm), or wait for it to bring port " + number + " up";
      case DOWN, DEFERRED, UNKNOWN -> linkLayer == LinkLayer.ETHERNET
          ? "bring port " + number
              + "'s network interface up (ip link set … up; rdma link shows which), and look at its "
              + "cable"
          : "look at port " + number + "'s cable, switch and ibstat";
    };
  }
}
