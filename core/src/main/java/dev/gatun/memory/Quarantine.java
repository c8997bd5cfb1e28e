package dev.gatun.memory;

import java.util.HashMap;
import java.util.Map;

/** How many timed-out transfers each block has. Rarely used, so a lock will do. */
final class Quarantine {
  private final Map<Integer, Integer> counts = new HashMap<>();
  private int size;

  synchronized void add(int index) {
    counts.merge(index, 1, Integer::sum);
    size++;
  }

  synchronized void remove(int index) {
    counts.computeIfPresent(index, (key, count) -> count == 1 ? null : count - 1);
    size--;
  }

  synchronized int count(int index) {
    return counts.getOrDefault(index, 0);
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
