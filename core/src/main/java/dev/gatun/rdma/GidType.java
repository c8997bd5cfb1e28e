package dev.gatun.rdma;

/** How packets to a GID are framed. Both ends of a connection must use the same. */
public enum GidType {
  /** The library is too old to say. */
  UNKNOWN("type unknown"),
  /** InfiniBand. */
  INFINIBAND("InfiniBand"),
  /** RoCE in Ethernet frames, which no router forwards. */
  ROCE_V1("RoCE v1"),
  /** RoCE in UDP; what networks with routers need. */
  ROCE_V2("RoCE v2");

  private final String label;

  GidType(String label) {
    this.label = label;
  }

  /** {@return what it is called in reports} */
  public String label() {
    return label;
  }
}
