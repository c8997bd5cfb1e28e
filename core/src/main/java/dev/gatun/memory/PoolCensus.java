package dev.gatun.memory;

import dev.gatun.backend.EpochGate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts and lists the blocks of a pool, looking at each in turn: a moment's figures while others work. */
final class PoolCensus {
  private final BlockStates states;
  private final Quarantine quarantine;
  private final @Nullable LeaseTracker tracker;
  private final EpochGate gate;
  private final long poolBits;

  PoolCensus(BlockStates states, Quarantine quarantine, @Nullable LeaseTracker tracker, EpochGate gate, long poolBits) {
    this.states = states;
    this.quarantine = quarantine;
    this.tracker = tracker;
    this.gate = gate;
    this.poolBits = poolBits;
  }

  int free() {
    int free = 0;
    for (int i = 0; i < states.count(); i++) {
      if (BlockWord.isFree(states.get(i))) free++;
    }
    return free;
  }

  List<BlockStatus> outstanding() {
    List<BlockStatus> list = new ArrayList<>();
    for (int i = 0; i < states.count(); i++) {
      long word = states.get(i);
      if (BlockWord.has(word, BlockWord.HELD)) list.add(status(i, word));
    }
    return list;
  }

  /** {@return whether transfers of leases of earlier epochs run, those in quarantine left out} */
  boolean transferringOld() {
    long current = BlockWord.epochBits(gate.ordinal());
    for (int i = 0; i < states.count(); i++) {
      long word = states.get(i);
      if (!BlockWord.has(word, BlockWord.TRANSFERS) || BlockWord.isOfEpoch(word, current)) continue;
      if (!BlockWord.has(word, BlockWord.QUARANTINED) || !quarantine.holdsAll(i, word)) return true;
    }
    return false;
  }

  /** {@return the blocks with transfers, those in quarantine included} */
  List<BlockStatus> inFlight() {
    return outstanding().stream().filter(block -> block.readers() > 0 || block.writing()).toList();
  }

  private BlockStatus status(int index, long word) {
    return new BlockStatus(index, BlockWord.handle(word, poolBits, index), BlockWord.references(word),
        BlockWord.readers(word), BlockWord.has(word, BlockWord.WRITER), BlockWord.has(word, BlockWord.QUARANTINED),
        BlockWord.isOfEpoch(word, BlockWord.epochBits(gate.ordinal())), tracker == null ? null : tracker.site(index));
  }
}
