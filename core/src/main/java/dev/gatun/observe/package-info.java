/**
 * What an operator can see: flight recorder events and Micrometer meters, as observers of stores and refits.
 *
 * <p>Depends on {@code backend}; on Micrometer only where {@link dev.gatun.observe.MeterObserver} is used.
 *
 * <pre>{@code
 * MeterObserver meters = new MeterObserver(registry, Tags.of("replica", "0"));
 * Observers observer = Observers.of(new FlightRecorderObserver(), meters);
 * KvStore store = KvStore.open(options, KeyCodec.epoch("kv"), gate, observer);
 * RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), policy, observer);
 * meters.watch(gate, "replica-0");
 * }</pre>
 */
@NullMarked
package dev.gatun.observe;

import org.jspecify.annotations.NullMarked;
