/**
 * What tests of several packages share.
 *
 * <p>Depends on JUnit only.
 *
 * <pre>{@code
 * String message = Thrown.message(IllegalArgumentException.class, () -> HostPort.parse("master", "", 0));
 * }</pre>
 */
@NullMarked
package dev.gatun.testing;

import org.jspecify.annotations.NullMarked;
