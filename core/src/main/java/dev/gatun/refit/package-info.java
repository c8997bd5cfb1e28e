/**
 * Refits: closes the gate, raises the weight epoch, removes every page of older weights and proves that none is left.
 *
 * <p>Depends on {@code backend}; the stores come to it as {@link dev.gatun.backend.RefitStore}.
 *
 * <pre>{@code
 * RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), RefitPolicy.DEFAULT, observer);
 * try (Refit refit = coordinator.begin(new WeightEpoch("run-7", 3))) {
 *   refit.clear();
 *   loadWeights();
 *   refit.open().orThrow();
 * }}</pre>
 */
@NullMarked
package dev.gatun.refit;

import org.jspecify.annotations.NullMarked;
