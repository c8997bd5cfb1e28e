package dev.gatun.rdma;

/**
 * An address of a port that is in use.
 *
 * @param index its place in the port's table, which is what {@code MC_GID_INDEX} and {@code UCX_IB_GID_INDEX} take
 * @param address as an IP address; an IPv4 one stands for itself
 * @param type how packets to it are framed
 * @param interfaceIndex the network interface that it comes from, 0 for none or unknown
 */
public record RdmaGid(int index, String address, GidType type, int interfaceIndex) {

  /** {@return it in words, such as {@code GID 3 RoCE v2 10.0.0.1}} */
  public String describe() {
    return "GID " + index + ' ' + type.label() + ' ' + address;
  }
}
