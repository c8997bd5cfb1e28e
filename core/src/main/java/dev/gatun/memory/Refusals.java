package dev.gatun.memory;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochChangedException;

/** Why a pool refuses a call, in words: which call, which block of which pool, what is in the way. */
final class Refusals {
  private final BlockPool pool;

  Refusals(BlockPool pool) {
    this.pool = pool;
  }

  /** The lease has ended, or is of an earlier epoch. */
  RuntimeException ended(String operation, long block, long word) {
    if (pool.isClosed()) return closed(operation);
    if (!BlockWord.sameLease(word, block)) {
      return because(operation, block, "its lease has ended (generation " + BlockWord.generation(block) + ", now "
          + BlockWord.generation(word) + ')');
    }
    if (!BlockWord.has(word, BlockWord.REFERENCES)) return because(operation, block, "it was released");
    return new EpochChangedException(operation + " refused: block " + BlockWord.index(block) + " of " + pool.name()
        + " was leased before the refit to " + pool.gate().epoch() + "; release it and compute again");
  }

  RuntimeException notRunning(String operation, long block, long word) {
    return !pool.isClosed() && BlockWord.sameLease(word, block)
        ? because(operation, block, "no such transfer runs")
        : ended(operation, block, word);
  }

  IllegalStateException unreadable(String operation, long block, long word) {
    return because(operation, block, BlockWord.has(word, BlockWord.WRITER | BlockWord.NULL)
        ? obstacle(word)
        : "its last write failed; write it anew");
  }

  IllegalStateException busy(String operation, long block, long word) {
    return because(operation, block, obstacle(word));
  }

  IllegalStateException full(String operation, long block, String what) {
    return because(operation, block, "it has the most " + what + " that can be counted");
  }

  IllegalStateException because(String operation, long block, String why) {
    return new IllegalStateException(
        operation + " refused: block " + BlockWord.index(block) + " of " + pool.name() + ": " + why);
  }

  IllegalArgumentException foreign(String operation, long block) {
    return new IllegalArgumentException(operation + ": block " + block + " is not of " + pool.name());
  }

  ClosedException closed(String operation) {
    return new ClosedException(operation + " refused: " + pool.name() + " is closed");
  }

  PoolExhaustedException exhausted() {
    return new PoolExhaustedException(pool.name() + ": all " + pool.layout().pageCount() + " blocks are in use, "
        + pool.quarantined() + " transfers in quarantine; release blocks or make the pool larger");
  }

  private static String obstacle(long word) {
    if (BlockWord.has(word, BlockWord.NULL)) return "it is the null block";
    return BlockWord.has(word, BlockWord.WRITER)
        ? "a transfer is writing it"
        : BlockWord.readers(word) + " transfers are reading it";
  }
}
