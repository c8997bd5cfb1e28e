package dev.gatun.store;

/**
 * What is stored beside a page so that a wrong one is recognised when it is read. {@link #STAMP} and {@link #FULL} need
 * a pool with a 64-byte header before each page. Writers and readers of a namespace must agree.
 */
public enum Verify {
  /** Nothing: the object is the page. Engines' own formats are read and written this way. */
  NONE,
  /** A stamp of run, epoch, key and length: stale, swapped and foreign pages are caught, damaged bytes are not. */
  STAMP,
  /** A stamp with a CRC-32C of the page: torn and damaged pages are caught as well. Reads every byte once more. */
  FULL
}
