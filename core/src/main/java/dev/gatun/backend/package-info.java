/**
 * What a KV store must do for Gatun, and the words in which it answers: result codes, exceptions, weight epochs, the
 * epoch gate, deadlines and observers.
 *
 * <p>Depends on the JDK only; every other package depends on this one.
 *
 * <pre>{@code
 * EpochGate gate = new EpochGate(new WeightEpoch("run-7", 0));
 * int ticket = gate.enter("put");
 * try {
 *   // keys written here carry gate.epoch(ticket), and no refit can verify before exit
 * } finally { gate.exit(ticket); }
 * }</pre>
 */
@NullMarked
package dev.gatun.backend;

import org.jspecify.annotations.NullMarked;
