package dev.gatun.fleet;

import java.util.Locale;

/** What all engines do before any of them goes on. */
enum Phase {
  WAKE, PAUSE, RESET, SLEEP,
  /** The store, once for all. */
  STORE, RESUME;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
