package dev.gatun.memory;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;

/**
 * The epoch of one sequence of tokens. Its pages are computed from each other, so each carries the lowest epoch among
 * its inputs: a sequence that goes on across a refit, or that uses anything older, can save none of its pages any more,
 * those that it leases later included. Owned by one thread at a time.
 */
public final class Sequence {
  private static final int EXPIRED = -1;

  private final EpochGate gate;
  private int ordinal;
  private WeightEpoch epoch;

  private Sequence(EpochGate gate) {
    this.gate = gate;
    // the ordinal is read first: if a refit comes in between, the sequence counts as the older one
    ordinal = gate.ordinal();
    epoch = gate.epoch();
  }

  /**
   * Begins a sequence at the epoch in force.
   *
   * @param gate whose refits end its saves
   * @return a sequence without inputs
   */
  public static Sequence open(EpochGate gate) {
    return new Sequence(gate);
  }

  /** {@return the epoch it began at, or that of the oldest sequence it uses} */
  public WeightEpoch epoch() {
    return epoch;
  }

  /** {@return whether what it computes may be saved: it and all it used are of the epoch in force} */
  public boolean isCurrent() {
    return gate.ordinal() == ordinal;
  }

  /**
   * Declares that pages of another sequence are inputs of this one: a fork, a shared prefix.
   *
   * @param other a sequence of the same gate
   * @throws IllegalArgumentException if it belongs to another gate
   */
  public void uses(Sequence other) {
    if (other.gate != gate) throw new IllegalArgumentException("other must belong to the same gate: " + other.epoch);
    if (other.ordinal < ordinal) {
      ordinal = other.ordinal;
      epoch = other.epoch;
    }
  }

  /**
   * Declares that a block is an input of this sequence. If a refit came since it was leased, the sequence is old too.
   *
   * @param pool whose block; of the same gate
   * @param block a lease, of any epoch
   * @throws IllegalArgumentException if the pool belongs to another gate
   */
  public void uses(BlockPool pool, long block) {
    requireSameGate(pool);
    if (!pool.isCurrent(block)) ordinal = EXPIRED;
  }

  /**
   * Leases a block for the next page to be saved. The block carries the sequence's epoch, so that a refit at any moment
   * from now on ends it.
   *
   * @param pool from which; of the same gate
   * @return the handle, with one reference; the caller releases it
   * @throws IllegalArgumentException if the pool belongs to another gate
   * @throws EpochChangedException if the sequence is not current
   * @throws PoolExhaustedException if no block is free
   */
  public long lease(BlockPool pool) {
    requireSameGate(pool);
    requireCurrent();
    long block = pool.leaseFor(ordinal);
    if (block == 0) throw pool.exhausted();
    return block;
  }

  /**
   * Checks that a save may begin.
   *
   * @throws EpochChangedException if the sequence is not current
   */
  public void requireCurrent() {
    if (!isCurrent()) {
      throw new EpochChangedException("save refused: the sequence or one of its inputs is of " + epoch
          + " or older, weights are now " + gate.epoch() + "; begin a new sequence");
    }
  }

  /** Epochs of two gates have nothing to do with each other: an old one here may be one to come there. */
  private void requireSameGate(BlockPool pool) {
    if (pool.gate() == gate) return;
    throw new IllegalArgumentException(
        "pool must be under the gate of the sequence, which is of " + epoch + ": " + pool.name());
  }
}
