/**
 * The main job: replays a trace of requests against a KV store with several replicas, refits at step boundaries, and
 * checks every byte that comes back.
 *
 * <p>Depends on the core's packages; the command stands on it.
 *
 * <pre>{@code
 * Trace trace = TraceReader.read(Path.of("conversation_trace.jsonl"));
 * IdealCache ideal = IdealCache.of(trace, 600_000);
 * // 12031 requests, 5 resets, 75782 hits at best
 * System.out.println(trace.requests() + " " + ideal.resets() + " " + ideal.hits());
 * }</pre>
 */
@NullMarked
package dev.gatun.cli.replay;

import org.jspecify.annotations.NullMarked;
