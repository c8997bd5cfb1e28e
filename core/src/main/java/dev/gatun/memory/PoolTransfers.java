package dev.gatun.memory;

/**
 * The transfers on the blocks of a pool, those in quarantine included. What each operation means to callers stands at
 * {@link BlockPool}.
 */
final class PoolTransfers {
  private final PoolLeases leases;
  private final Quarantine quarantine;

  PoolTransfers(PoolLeases leases, Quarantine quarantine) {
    this.leases = leases;
    this.quarantine = quarantine;
  }

  void beginRead(long block) {
    int index = leases.index("beginRead", block);
    long word;
    do {
      word = leases.states.get(index);
      if (!leases.isCurrent(word, block)) throw leases.refusals.ended("beginRead", block, word);
      if (BlockWord.has(word, BlockWord.WRITER | BlockWord.INVALID | BlockWord.NULL)) {
        throw leases.refusals.unreadable("beginRead", block, word);
      }
      if (!BlockWord.has(~word, BlockWord.READERS)) throw leases.refusals.full("beginRead", block, "readers");
    } while (!leases.states.replace(index, word, word + BlockWord.READER));
    marked(index);
  }

  void endRead(long block) {
    int index = leases.index("endRead", block);
    long word;
    do {
      word = leases.states.get(index);
      if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.READERS)) {
        throw leases.refusals.notRunning("endRead", block, word);
      }
      if (BlockWord.has(word, BlockWord.QUARANTINED)) {
        endReadBesideQuarantine(index, block);
        return;
      }
    } while (!leases.drop(index, word, word - BlockWord.READER));
  }

  private void endReadBesideQuarantine(int index, long block) {
    synchronized (quarantine) {
      long word;
      do {
        word = leases.states.get(index);
        if (quarantine.holdsAll(index, word)) {
          throw leases.refusals.because("endRead", block, "its transfers are in quarantine; call endQuarantine");
        }
      } while (!leases.drop(index, word, word - BlockWord.READER));
    }
  }

  void beginWrite(long block) {
    int index = leases.index("beginWrite", block);
    long word;
    do {
      word = leases.states.get(index);
      if (!leases.isCurrent(word, block)) throw leases.refusals.ended("beginWrite", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS | BlockWord.NULL))
        throw leases.refusals.busy("beginWrite", block, word);
    } while (!leases.states.replace(index, word, word | BlockWord.WRITER));
    marked(index);
  }

  void endWrite(long block, boolean valid) {
    if (valid) endWriting("endWrite", block, BlockWord.WRITER | BlockWord.INVALID, 0);
    else
      endWriting("endWrite", block, BlockWord.WRITER, BlockWord.INVALID);
  }

  void cancelWrite(long block) {
    endWriting("cancelWrite", block, BlockWord.WRITER, 0);
  }

  private void endWriting(String call, long block, long cleared, long set) {
    int index = leases.index(call, block);
    long word;
    do {
      word = leases.states.get(index);
      if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.WRITER)) {
        throw leases.refusals.notRunning(call, block, word);
      }
      if (BlockWord.has(word, BlockWord.QUARANTINED)) {
        throw leases.refusals.because(call, block, "its transfer is in quarantine; call endQuarantine");
      }
    } while (!leases.drop(index, word, (word & ~cleared) | set));
  }

  void quarantine(long block) {
    int index = leases.index("quarantine", block);
    synchronized (quarantine) {
      long word;
      do {
        word = leases.states.get(index);
        if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.TRANSFERS)) {
          throw leases.refusals.notRunning("quarantine", block, word);
        }
        if (quarantine.holdsAll(index, word))
          throw leases.refusals.because("quarantine", block, "all its transfers are there already");
      } while (!leases.states.replace(index, word, word | BlockWord.QUARANTINED));
      quarantine.add(index);
    }
  }

  void endQuarantine(long block) {
    int index = leases.index("endQuarantine", block);
    synchronized (quarantine) {
      long word;
      long next;
      do {
        word = leases.states.get(index);
        if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.QUARANTINED)) {
          throw leases.refusals.notRunning("endQuarantine", block, word);
        }
        next = BlockWord.has(word, BlockWord.WRITER)
            ? (word & ~BlockWord.WRITER) | BlockWord.INVALID
            : word - BlockWord.READER;
        if (quarantine.count(index) == 1) next &= ~BlockWord.QUARANTINED;
      } while (!leases.drop(index, word, next));
      quarantine.remove(index);
    }
  }

  private void marked(int index) {
    if (leases.tracker != null) leases.tracker.onTransfer(index);
  }
}
