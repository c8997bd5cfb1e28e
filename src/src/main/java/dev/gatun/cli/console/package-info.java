/**
 * How the command speaks: exit codes, one-line errors, JSON, progress, the file for native logs.
 *
 * <p>Depends on the core's backend vocabulary and on {@code dev.gatun.nativelib}.
 *
 * <pre>{@code
 * try {
 *   store.open();
 * } catch (RuntimeException failure) {
 *   System.err.println(Failure.message(failure));
 *   System.exit(Failure.exitCode(failure)); // 4: the master does not answer
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.cli.console;

import org.jspecify.annotations.NullMarked;
