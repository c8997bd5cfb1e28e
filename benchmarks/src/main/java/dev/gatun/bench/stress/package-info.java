/**
 * Races on the block word and on the epoch gate, each allowed outcome described in words; a forbidden one fails the
 * build.
 *
 * <p>Depends on jcstress, {@code dev.gatun.backend} and {@code dev.gatun.memory}.
 *
 * <pre>{@code
 * mvn -pl benchmarks -am verify     // runs them in quick mode
 * }</pre>
 */
@NullMarked
package dev.gatun.bench.stress;

import org.jspecify.annotations.NullMarked;
