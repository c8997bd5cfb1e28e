/**
 * {@code gatun pd}: a prefill and a decode process on one machine that hand the chained KV of prompts over, every byte of
 * it checked.
 *
 * <p>Depends on the core's packages, and on the page content, logs and figures of {@code dev.gatun.cli.replay}.
 *
 * <pre>{@code
 * PdOptions options = new PdOptions("mooncake", 4096, 65_536, 256, Duration.ofSeconds(30), Optional.empty());
 * PdReport report = PdRun.run(options, true, null);
 * System.out.println(report.map().get("handoverP99Ms"));
 * }</pre>
 */
@NullMarked
package dev.gatun.cli.pd;

import org.jspecify.annotations.NullMarked;
