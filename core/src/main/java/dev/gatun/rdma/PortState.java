package dev.gatun.rdma;

/** How far a port is from carrying data. */
public enum PortState {
  /** The library does not say, or says something new. */
  UNKNOWN("state unknown"),
  /** No link: no cable, the other end is off, or the interface is down. */
  DOWN("down"),
  /** InfiniBand: a link, and no subnet manager has set it up. */
  INIT("waiting for a subnet manager"),
  /** InfiniBand: set up, not yet released by the subnet manager. */
  ARMED("armed"),
  /** Carries data. */
  ACTIVE("active"),
  /** Active until a while ago; may come back by itself. */
  DEFERRED("active, with a fault");

  private final String label;

  PortState(String label) {
    this.label = label;
  }

  /** {@return what it is called in reports} */
  public String label() {
    return label;
  }
}
