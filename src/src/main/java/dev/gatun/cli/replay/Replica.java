package dev.gatun.cli.replay;

import dev.gatun.backend.WeightEpoch;

/**
 * One replica of the inference host, as the step barrier drives it: a store handle, an epoch gate, a refit coordinator
 * and a block pool of its own. All calls but {@link #requestsDone} and {@link #cancel} come from one thread, block, and
 * throw what went wrong.
 */
interface Replica extends AutoCloseable {

  /** Opens the store. */
  void open();

  /** Replays its share of the requests of a step. {@return whether it makes sense to go on} */
  boolean runStep(long step);

  /** Begins a refit: nothing goes in any more, and whatever was running has ended. */
  void beginRefit(WeightEpoch next);

  /** Removes and verifies. */
  void clear();

  /** Ends the refit. */
  RefitSummary endRefit();

  /** {@return what it did; nothing is replayed afterwards} */
  ReplicaFigures figures();

  /** {@return requests replayed so far; any thread} */
  long requestsDone();

  /** Makes a running step end early; any thread. */
  void cancel();

  @Override
  void close();
}
