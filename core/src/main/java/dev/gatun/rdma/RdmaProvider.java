package dev.gatun.rdma;

/** Asks about RDMA devices in one way; found through {@link java.util.ServiceLoader}. */
public interface RdmaProvider {

  /** {@return what is there, as {@link RdmaDevices#probe()}} Does not throw. Blocks. */
  RdmaReport probe();

  /**
   * Tries a registration, as {@link RdmaDevices#tryRegister}. Blocks.
   *
   * @param device its name
   * @param bytes how much, above 0
   * @return how it went
   */
  RegistrationTrial tryRegister(String device, long bytes);
}
