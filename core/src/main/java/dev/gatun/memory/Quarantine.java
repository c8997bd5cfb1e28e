package dev.gatun.memory;

import org.agrona.collections.Int2IntCounterMap;

/** How many timed-out transfers each block has. Rarely used, so a lock will do. */
final class Quarantine {
  private final Int2IntCounterMap counts = new Int2IntCounterMap(0);
  private int size;

  synchronized void add(int index) {
    counts.incrementAndGet(index);
    size++;
  }

  synchronized void remove(int index) {
    counts.decrementAndGet(index);
    size--;
  }

  synchronized int count(int index) {
    return counts.get(index);
  }

  /** {@return whether every transfer that the word counts is in quarantine} */
  synchronized boolean holdsAll(int index, long word) {
    int transfers = BlockWord.readers(word) + (BlockWord.has(word, BlockWord.WRITER) ? 1 : 0);
    return count(index) >= transfers;
  }

  synchronized int size() {
    return size;
  }
}
