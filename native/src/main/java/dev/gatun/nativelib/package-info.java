/**
 * Finds the shared libraries behind Gatun, loads them, and says what was tried and what to type when one is missing;
 * installs and starts a real Mooncake for trying out and for tests.
 *
 * <p>Depends on the JDK only.
 *
 * <pre>{@code
 * LibraryLocation loopback = NativeLibraries.locateLoopback();
 * }</pre>
 */
@NullMarked
package dev.gatun.nativelib;

import org.jspecify.annotations.NullMarked;
