package dev.gatun.internal.rdma;

/** The rate of a port from the numbers that libibverbs has for its lanes. */
final class LinkRate {
  private LinkRate() {}

  /** {@return the nominal rate in megabits a second, 0 if one of the numbers is unknown} */
  static int megabitsPerSecond(int width, int speed) {
    return lanes(width) * laneMegabits(speed);
  }

  private static int lanes(int width) {
    return switch (width) {
      case 1 -> 1;
      case 2 -> 4;
      case 4 -> 8;
      case 8 -> 12;
      case 16 -> 2;
      default -> 0;
    };
  }

  // the names of the InfiniBand generations: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR
  private static int laneMegabits(int speed) {
    return switch (speed) {
      case 1 -> 2_500;
      case 2 -> 5_000;
      case 4, 8 -> 10_000;
      case 16 -> 14_000;
      case 32 -> 25_000;
      case 64 -> 50_000;
      case 128 -> 100_000;
      default -> 0;
    };
  }
}
