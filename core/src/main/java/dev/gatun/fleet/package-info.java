/**
 * Refits of whole fleets: inference engines over HTTP, and the store they share, in one run with one report.
 *
 * <p>Depends on {@code refit}, {@code store}, {@code codec}, {@code backend} and the HTTP client of {@code internal.http}.
 *
 * <pre>{@code
 * FleetConfig config = FleetConfig.read(Path.of("fleet.yaml"));
 * FleetReport report = new FleetRefit(config).run();
 * System.out.print(report.text());
 * if (report.outcome() != FleetOutcome.VERIFIED) {
 *   throw new IllegalStateException("still paused: " + report.paused());
 * }}</pre>
 */
@NullMarked
package dev.gatun.fleet;

import org.jspecify.annotations.NullMarked;
