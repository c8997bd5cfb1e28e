package dev.gatun.device;

import dev.gatun.backend.GatunException;
import java.util.Locale;

/** A call of the GPU driver that failed. The error may stem from earlier work on the same GPU. */
public final class DeviceException extends GatunException {
  private static final long serialVersionUID = 1L;

  /** The call that failed. */
  private final String call;
  /** What the driver names the error. */
  private final String codeName;
  /** The number as it came. */
  private final int code;

  /**
   * Creates the exception; the message holds call, error name and number, the driver's text and what to do.
   *
   * @param call the driver's function and what it was about, such as {@code cuMemAlloc(1024)}
   * @param code the number that it returned
   * @param codeName the driver's name for the number
   * @param text the driver's explanation
   */
  public DeviceException(String call, int code, String codeName, String text) {
    super(String.format(Locale.ROOT, "%s failed: %s (%d), %s%s", call, codeName, code, text, advice(code)));
    this.call = call;
    this.codeName = codeName;
    this.code = code;
  }

  /** {@return the call that failed} */
  public String call() {
    return call;
  }

  /** {@return the driver's name for the error} */
  public String codeName() {
    return codeName;
  }

  /** {@return the driver's number for the error} */
  public int code() {
    return code;
  }

  /** {@return whether the GPU context of this process is lost: every later call will fail as well} */
  public boolean isContextLost() {
    return isContextLost(code);
  }

  private static boolean isContextLost(int code) {
    return switch (code) {
      case 214, 700, 702, 714, 715, 716, 717, 718, 719 -> true; // the driver's documentation says so of each
      default -> false;
    };
  }

  private static String advice(int code) {
    if (isContextLost(code)) {
      return "; the GPU context of this process is lost and every later call fails: end the process";
    }
    return switch (code) {
      case 2 -> "; ask for less, or leave room when the inference engine takes its cache";
      case 3, 802, 803, 804, 999 -> "; driver and kernel module do not work together: see nvidia-smi and dmesg";
      case 100 -> "; no GPU is visible: see nvidia-smi, CUDA_VISIBLE_DEVICES, and whether the container was given one";
      case 101 -> "; GPUs are numbered from 0 among those that CUDA_VISIBLE_DEVICES shows";
      case 209 -> "; GPUs from Ampere (compute capability 8.0) on are supported";
      case 218, 222 -> "; the kernels need a driver of CUDA 12.4 or newer";
      case 712 -> "; somebody else has pinned this memory: pin a slab once a process";
      default -> "";
    };
  }
}
