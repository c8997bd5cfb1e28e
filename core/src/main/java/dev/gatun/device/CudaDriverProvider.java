package dev.gatun.device;

/** Opens the GPU driver in one way; found through {@link java.util.ServiceLoader}. */
public interface CudaDriverProvider {

  /** {@return the name that selects it, such as {@code ffm}} */
  String name();

  /**
   * Loads the driver's library and starts it. Blocks, a second or so the first time.
   *
   * @return the driver, usable by any thread until the process ends
   * @throws DriverUnavailableException if there is none; the next call looks again
   */
  CudaDriver open();
}
