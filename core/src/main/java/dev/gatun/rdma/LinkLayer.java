package dev.gatun.rdma;

/** What carries the packets of a port. */
public enum LinkLayer {
  /** The library does not say. */
  UNSPECIFIED("unspecified link"),
  /** An InfiniBand fabric; ports are found by LID and GID. */
  INFINIBAND("InfiniBand"),
  /** Ethernet, as for RoCE; ports are found by the GIDs that the IP addresses of the interface make. */
  ETHERNET("Ethernet");

  private final String label;

  LinkLayer(String label) {
    this.label = label;
  }

  /** {@return what it is called in reports} */
  public String label() {
    return label;
  }
}
