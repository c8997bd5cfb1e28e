package dev.gatun.rdma;

import java.util.ServiceLoader;

/**
 * Questions to libibverbs. It is opened when first asked, never linked to, and nothing stays open in between. System
 * property {@code gatun.verbs.library} or environment variable {@code VERBS_LIBRARY} names another than the system's
 * {@code libibverbs.so.1}. Any thread, virtual ones included, which stay on their carriers meanwhile.
 */
public final class RdmaDevices {
  private RdmaDevices() {}

  /**
   * Looks at all devices, without throwing: what cannot be had is said in the report. Blocks, milliseconds a device.
   *
   * @return what is there now, or what is missing and how to get it
   */
  public static RdmaReport probe() {
    return provider().probe();
  }

  /**
   * Registers fresh host memory with a device for remote reads and writes, and takes it back. Blocks while pages are
   * locked, for large sizes seconds.
   *
   * @param device its name, such as {@code mlx5_0}
   * @param bytes how much, above 0
   * @return whether it worked, or where and why it did not
   * @throws IllegalArgumentException if the name or the size makes no sense
   */
  public static RegistrationTrial tryRegister(String device, long bytes) {
    if (device.isBlank() || device.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("device must not be blank or contain NUL: \"" + device + '"');
    }
    if (bytes <= 0) throw new IllegalArgumentException("bytes must be positive: " + bytes);
    return provider().tryRegister(device, bytes);
  }

  private static RdmaProvider provider() {
    return ServiceLoader.load(RdmaProvider.class, RdmaProvider.class.getClassLoader()).findFirst()
        .orElseThrow(
            () -> new IllegalStateException("no provider of " + RdmaProvider.class.getName() + " is installed"));
  }
}
