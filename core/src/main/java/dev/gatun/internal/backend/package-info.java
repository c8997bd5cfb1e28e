/**
 * The store backends behind the SPI: one implementation over the Mooncake C ABI, opened for the embedded loopback library
 * or for Mooncake, and the two ways to take a census.
 *
 * <p>Depends on {@code backend}, {@code internal.ffm}, the bindings and the native libraries' locator. Exported to
 * the command only; others reach it through {@link java.util.ServiceLoader}.
 *
 * <pre>{@code
 * StoreBackendProvider provider = ServiceLoader.load(StoreBackendProvider.class).stream()
 *   .map(ServiceLoader.Provider::get).filter(p -> p.library().equals("loopback")).findFirst().orElseThrow();
 * try (StoreBackend store = provider.open(StoreOptions.loopback("main", 64 << 20))) {
 *   long removed = store.removeAll(true);
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.internal.backend;

import org.jspecify.annotations.NullMarked;
