/* SPDX-License-Identifier: Apache-2.0
 *
 * The store library takes over SIGINT, SIGTERM, SIGHUP and SIGUSR1 unless it finds this symbol in the process, which it
 * reads as "an interpreter owns the signals". A JVM owns them just as well. Opened with RTLD_GLOBAL before the first
 * store is created, closed right after: an interpreter loaded later must find its own.
 */
__attribute__((visibility("default"))) int Py_IsInitialized(void);

int Py_IsInitialized(void) {
  return 0;
}
