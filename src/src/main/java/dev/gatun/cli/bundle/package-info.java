/**
 * One archive that runs Gatun on a machine with no Java and no network.
 *
 * <p>Depends on {@code nativelib} and the console. Start at {@link dev.gatun.cli.bundle.Bundle}:
 *
 * <pre>{@code
 * Bundle bundle = new Bundle(jdkHome, modules, benchmarks, mooncake, "0.1.0", "1a2b3c", Optional.empty());
 * bundle.writeTo(Path.of("gatun.tar.xz"));
 * }</pre>
 */
@NullMarked
package dev.gatun.cli.bundle;

import org.jspecify.annotations.NullMarked;
