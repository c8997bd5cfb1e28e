package dev.gatun.refit;

import dev.gatun.backend.StoreCode;

/** How native codes read in reports. */
final class Codes {
  private Codes() {}

  static String text(long raw) {
    return StoreCode.of(raw) + " (" + raw + ')';
  }
}
