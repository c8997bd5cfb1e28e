/**
 * The {@code gatun} command: one class a subcommand, over the replay engine and the core's packages.
 *
 * <p>Depends on the core's packages, the installer of the real Mooncake, {@code dev.gatun.cli.replay}
 * and {@code dev.gatun.cli.pd}.
 *
 * <pre>{@code
 * gatun replay --refit-every 600000 --trace conversation_trace.jsonl
 * gatun mooncake install
 * gatun replay --store mooncake
 * gatun store put greeting ./file --master 127.0.0.1:50051
 * gatun doctor --json
 * }</pre>
 */
@NullMarked
package dev.gatun.cli;

import org.jspecify.annotations.NullMarked;
