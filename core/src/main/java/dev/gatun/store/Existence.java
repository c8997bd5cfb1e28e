package dev.gatun.store;

/** Answer to the question whether a key can be read. */
public enum Existence {
  /** It can, and a lease was granted. */
  PRESENT,
  /** It cannot: no such object, or its put is still in flight. */
  ABSENT,
  /** The store could not say, or reading the key failed moments ago: do not plan on it, do not overwrite it. */
  UNKNOWN
}
