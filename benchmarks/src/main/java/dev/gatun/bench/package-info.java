/**
 * Benchmarks: what Gatun's store path and pools cost beside raw downcalls, the same loop in C, and other allocators.
 *
 * <p>Depends on {@code store}, {@code memory}, {@code nativelib} and, for raw baselines, on the generated bindings.
 *
 * <pre>{@code
 * java @benchmarks/java.args dev.gatun.bench.StoreComparison --library loopback
 * java @benchmarks/java.args dev.gatun.bench.EmbeddedStoreBenchmark
 * java @benchmarks/java.args org.openjdk.jmh.Main StoreBatchBenchmark -prof gc
 * java @benchmarks/java.args org.openjdk.jmh.Main PoolBenchmark -t 1
 * }</pre>
 */
@NullMarked
package dev.gatun.bench;

import org.jspecify.annotations.NullMarked;
