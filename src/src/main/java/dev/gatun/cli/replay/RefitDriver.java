package dev.gatun.cli.replay;

import dev.gatun.backend.WeightEpoch;

/** How a replica's refits are carried out; the three calls of one refit come in this order, from one thread. */
interface RefitDriver {

  /** Closes the gate, raises the epoch and drains. */
  void begin(WeightEpoch next);

  /** Removes what is old. */
  void clear();

  /** Opens the gate if that is right. */
  RefitSummary end();
}
