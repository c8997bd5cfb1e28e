package dev.gatun.rdma;

/**
 * What the kernel's error numbers mean when memory is registered with an RDMA device. The numbers are Linux's, the same on
 * x86-64 and aarch64.
 */
public final class RegistrationErrors {
  private static final int EPERM = 1;
  private static final int ENOENT = 2;
  private static final int EIO = 5;
  private static final int ENOMEM = 12;
  private static final int EACCES = 13;
  private static final int EFAULT = 14;
  private static final int EBUSY = 16;
  private static final int ENODEV = 19;
  private static final int EINVAL = 22;
  private static final int EMFILE = 24;
  private static final int ENOSYS = 38;
  private static final int EOPNOTSUPP = 95;

  private RegistrationErrors() {}

  /**
   * {@return the name of an error number, with the number, such as {@code ENOMEM (12)}}
   *
   * @param errno positive
   */
  public static String name(int errno) {
    String name = switch (errno) {
      case EPERM -> "EPERM";
      case ENOENT -> "ENOENT";
      case EIO -> "EIO";
      case ENOMEM -> "ENOMEM";
      case EACCES -> "EACCES";
      case EFAULT -> "EFAULT";
      case EBUSY -> "EBUSY";
      case ENODEV -> "ENODEV";
      case EINVAL -> "EINVAL";
      case EMFILE -> "EMFILE";
      case ENOSYS -> "ENOSYS";
      case EOPNOTSUPP -> "EOPNOTSUPP";
      default -> "errno";
    };
    return name + " (" + errno + ')';
  }

  /**
   * {@return what to look at when a device refuses memory with this error}
   *
   * @param errno positive
   */
  public static String hint(int errno) {
    return switch (errno) {
      case ENOMEM -> "the locked-memory limit is too low (" + LockedMemory.FIX
          + "), or the device has no room for more regions: register fewer, larger slabs";
      case EPERM, EACCES -> "the process may not use the device: give it /dev/infiniband/uverbs* (container: "
          + "--device=/dev/infiniband) and the group that owns them";
      case EFAULT, EINVAL ->
        "the device cannot map this memory: for GPU memory load nvidia-peermem, or use a driver, a "
            + "kernel and a libibverbs that share it as dma-buf, and a NIC near the GPU; otherwise stage through host memory";
      case EOPNOTSUPP, ENOSYS ->
        "the device or its driver does not offer this kind of registration: for GPU memory load "
            + "nvidia-peermem or stage through host memory; update the NIC's driver";
      case ENODEV, ENOENT -> "the device is gone or its user-space driver is not installed: apt-get install "
          + "ibverbs-providers; rdma link shows what the kernel has";
      case EMFILE -> "the process has too many open files: raise ulimit -n";
      default -> "see the kernel's log (dmesg)";
    };
  }
}
