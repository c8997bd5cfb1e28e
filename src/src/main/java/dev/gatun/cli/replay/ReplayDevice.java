package dev.gatun.cli.replay;

import dev.gatun.device.Device;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Where the pages of a replay live while a replica works on them. */
public enum ReplayDevice {
  /** In blocks of the pool, in host memory. */
  NONE,
  /** In a paged cache on GPU 0. */
  CUDA,
  /** In a paged cache on a GPU made of host memory: the same path without a GPU. */
  HOST;

  /** {@return the name to give on the command line} */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@return all names} */
  public static List<String> words() {
    return Arrays.stream(values()).map(ReplayDevice::word).toList();
  }

  /**
   * {@return the device of that name}
   *
   * @param word letter case does not matter
   * @throws IllegalArgumentException if there is none, naming those there are
   */
  public static ReplayDevice of(String word) {
    for (ReplayDevice device : values())
      if (device.word().equals(word.strip().toLowerCase(Locale.ROOT))) return device;
    throw new IllegalArgumentException("--device must be one of " + String.join(", ", words()) + ": \"" + word + '"');
  }

  /** Opens the GPU; never for {@link #NONE}. */
  Device open() {
    return switch (this) {
      case CUDA -> Device.open(0);
      case HOST -> Device.open("host", 0);
      case NONE -> throw new IllegalStateException("pages in host memory need no device");
    };
  }
}
