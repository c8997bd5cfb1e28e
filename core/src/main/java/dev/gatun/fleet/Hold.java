package dev.gatun.fleet;

/** What is known of an engine's pause. */
enum Hold {
  /** It is not paused, as far as anybody said. */
  RUNS,
  /** A pause or a resume was sent, and nobody said what became of it. */
  UNKNOWN,
  /** It says that it is paused; it may have requests still that it waits for. */
  PAUSED,
  /** It says that the pause is complete: no request is left, and none begins. */
  FENCED
}
