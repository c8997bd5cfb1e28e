package dev.gatun.store;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Sends the entries of a batch to the library in calls of bounded size and writes the answers to the outcomes, in order.
 * Entries that have an outcome already are left out. Allocates nothing unless the batch is split.
 */
final class BatchCalls {
  private final StoreCore core;
  private final BatchEntries entries;
  private final BatchColumns columns;
  private final int keysMax;
  private final long bytesMax;

  BatchCalls(StoreCore core, BatchEntries entries) {
    this.core = core;
    this.entries = entries;
    columns = entries.columns;
    keysMax = core.policy.keysPerCallMax();
    bytesMax = core.policy.bytesPerCallMax();
  }

  /** Puts every entry, or, if some have an outcome already, the others. */
  void put(MemorySegment replicate, boolean all) {
    if (fitsOneCall(all)) {
      if (entries.sealed > 0) put(0, entries.sealed, replicate);
      return;
    }
    for (int from = next(0); from < entries.sealed;) {
      int to = end(from);
      put(from, to, replicate);
      from = next(to);
    }
  }

  /** Gets every entry, or, if some have an outcome already, the others. */
  void get(boolean all) {
    if (fitsOneCall(all)) {
      if (entries.sealed > 0) get(0, entries.sealed);
      return;
    }
    for (int from = next(0); from < entries.sealed;) {
      int to = end(from);
      get(from, to);
      from = next(to);
    }
  }

  /** Asks for each key that has no outcome yet: 1 present, 0 absent, or a negative code. */
  void exists() {
    for (int from = next(0); from < entries.sealed;) {
      int to = (int) Math.min(entries.sealed, (long) from + keysMax);
      int code = core.backend.batchExists(columns.keyPointers(from), to - from, columns.results());
      if (code != 0) throw failed("exists", from, to, code);
      int[] answers = columns.codes(to - from);
      for (int i = from; i < to; i++) {
        if (entries.outcomes[i] != Outcome.UNSET) continue;
        int answer = answers[i - from];
        entries.outcomes[i] = answer <= 1 ? answer : StoreCode.UNKNOWN.raw();
      }
      from = next(to);
    }
  }

  private void put(int from, int to, MemorySegment replicate) {
    core.keysSent.addAndGet(to - from);
    int code = core.backend.batchPut(columns.keyPointers(from), columns.pages(from), columns.sizes(from), to - from,
        replicate, columns.results());
    if (code != 0) throw failed("put", from, to, code);
    if (columns.allZero(to - from)) {
      Arrays.fill(entries.outcomes, from, to, 0);
      return;
    }
    int[] answers = columns.codes(to - from);
    for (int i = from; i < to; i++) {
      int answer = answers[i - from];
      // a positive number is no answer that this function gives
      entries.outcomes[i] = answer <= 0 ? answer : StoreCode.UNKNOWN.raw();
    }
  }

  private void get(int from, int to) {
    int code = core.backend.batchGet(columns.keyPointers(from), columns.pages(from), columns.sizes(from), to - from,
        columns.results());
    if (code != 0) throw failed("get", from, to, code);
    columns.lengthsInto(entries.outcomes, from, to - from);
  }

  private boolean fitsOneCall(boolean all) {
    return all && entries.sealed <= keysMax && entries.totalBytes <= bytesMax;
  }

  /** {@return the first entry from here on that has no outcome yet} */
  private int next(int from) {
    int at = from;
    while (at < entries.sealed && entries.outcomes[at] != Outcome.UNSET)
      at++;
    return at;
  }

  /** {@return the end of the run of entries to send in one call; a single entry may exceed the bytes} */
  private int end(int from) {
    int last = (int) Math.min(entries.sealed, (long) from + keysMax);
    long left = bytesMax;
    int at = from;
    while (at < last && entries.outcomes[at] == Outcome.UNSET) {
      left -= entries.objectBytes[at];
      if (left < 0 && at > from) break;
      at++;
    }
    return at;
  }

  /** The library wrote no answers: every entry of this call fails with its code, and those after it were not sent. */
  private StoreException failed(String operation, int from, int to, int code) {
    int failure = code < 0 ? code : StoreCode.UNKNOWN.raw();
    for (int i = from; i < to; i++)
      entries.outcomes[i] = failure;
    entries.finish(Outcome.unsent(failure));
    return new StoreException(operation, code, entries.sealed + " keys, first of the failed call "
        + entries.describe(from));
  }
}
