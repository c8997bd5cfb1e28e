/* SPDX-License-Identifier: Apache-2.0
 *
 * The store library takes over SIGINT, SIGTERM, SIGHUP and SIGUSR1 unless it finds this symbol in the process, which it
 * reads as "an interpreter owns the signals". A JVM owns them just as well. This library is linked to the store and
 * opened after it, privately, which puts it into the search scope of the store's libraries and into no other: an
 * interpreter loaded later must find its own symbol. Opened globally, it could not be hidden again, since the loader
 * keeps a library for as long as one lives that found a symbol in it.
 */
__attribute__((visibility("default"))) int Py_IsInitialized(void);

int Py_IsInitialized(void) {
  return 0;
}
