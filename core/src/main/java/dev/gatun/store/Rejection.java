package dev.gatun.store;

/** Why bytes that arrived are not the page that was asked for. The block they are in must not be used. */
public enum Rejection {
  /** An object without bytes. */
  EMPTY,
  /** Not written by Gatun, in another namespace, or without the checksum that this reader demands. */
  FOREIGN,
  /** Computed with other weights. */
  STALE,
  /** Another key's page. */
  SWAPPED,
  /** Bytes that do not belong together, or of another length than was written. */
  TORN
}
