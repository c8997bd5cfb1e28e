package dev.gatun.store;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import java.lang.foreign.MemorySegment;

/**
 * Sends the entries of a batch to the library in calls of bounded size and writes the answers to the outcomes, in order.
 * Entries that have an outcome already are left out. Allocates nothing unless the batch is split.
 */
final class BatchCalls {
  private final StoreCore core;
  private final BatchEntries entries;
  private final BatchColumns columns;

  BatchCalls(StoreCore core, BatchEntries entries) {
    this.core = core;
    this.entries = entries;
    columns = entries.columns;
  }

  void put(MemorySegment replicate) {
    for (int from = next(0); from < entries.size;) {
      int to = end(from);
      core.keysSent.addAndGet(to - from);
      int code = core.backend.batchPut(BatchColumns.from(columns.keyPointers, from),
          BatchColumns.from(columns.pages, from), BatchColumns.from(columns.sizes, from), to - from, replicate,
          columns.results);
      if (code != 0) throw failed("put", from, to, code);
      for (int i = from; i < to; i++) {
        int answer = columns.code(i - from);
        // a positive number is no answer that this function gives
        entries.outcomes[i] = answer <= 0 ? answer : StoreCode.UNKNOWN.raw();
      }
      from = next(to);
    }
  }

  void get() {
    for (int from = next(0); from < entries.size;) {
      int to = end(from);
      int code = core.backend.batchGet(BatchColumns.from(columns.keyPointers, from),
          BatchColumns.from(columns.pages, from), BatchColumns.from(columns.sizes, from), to - from, columns.results);
      if (code != 0) throw failed("get", from, to, code);
      for (int i = from; i < to; i++)
        entries.outcomes[i] = columns.length(i - from);
      from = next(to);
    }
  }

  /** Asks for each key: 1 present, 0 absent, or a negative code. */
  void exists() {
    for (int from = next(0); from < entries.size;) {
      int to = Math.min(entries.size, from + core.policy.keysPerCallMax());
      int code = core.backend.batchExists(BatchColumns.from(columns.keyPointers, from), to - from, columns.results);
      if (code != 0) throw failed("exists", from, to, code);
      for (int i = from; i < to; i++) {
        if (entries.outcomes[i] != Outcome.UNSET) continue;
        int answer = columns.code(i - from);
        entries.outcomes[i] = answer <= 1 ? answer : StoreCode.UNKNOWN.raw();
      }
      from = next(to);
    }
  }

  /** {@return the first entry from here on that has no outcome yet} */
  private int next(int from) {
    int at = from;
    while (at < entries.size && entries.outcomes[at] != Outcome.UNSET)
      at++;
    return at;
  }

  /** {@return the end of the run of entries to send in one call; a single entry may exceed the bytes} */
  private int end(int from) {
    int last = (int) Math.min(entries.size, (long) from + core.policy.keysPerCallMax());
    long left = core.policy.bytesPerCallMax();
    int at = from;
    while (at < last && entries.outcomes[at] == Outcome.UNSET) {
      left -= columns.size(at);
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
    return new StoreException(operation, code, entries.size + " keys, first of the failed call "
        + entries.describe(from));
  }
}
