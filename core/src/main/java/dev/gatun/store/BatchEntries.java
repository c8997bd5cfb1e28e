package dev.gatun.store;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.Arena;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What was added to a batch and what became of it. One thread at a time. */
final class BatchEntries {
  /** What the outcomes are of. */
  enum Ran {
    NOTHING, PUT, GET, EXISTS
  }

  final BatchColumns columns;
  final KvKey[] keys;
  final long[] blocks;
  final long[] objectBytes;
  final long[] outcomes;
  int size;
  /** How many the running operation is of: whoever breaks the rule of one thread may add others meanwhile. */
  int sealed;
  long totalBytes;
  Ran ran = Ran.NOTHING;

  private final EpochGate gate;
  private final KeyCodec codec;
  private final DuplicateTable duplicates;
  private int withoutBlock;
  private @Nullable String @Nullable [] details;
  private boolean sizesChanged;
  private int ordinal;
  private WeightEpoch epoch;

  BatchEntries(Arena arena, int capacity, KeyCodec codec, EpochGate gate) {
    this.codec = codec;
    this.gate = gate;
    columns = new BatchColumns(arena, capacity, codec.prefixBytesMax());
    keys = new KvKey[capacity];
    blocks = new long[capacity];
    objectBytes = new long[capacity];
    outcomes = new long[capacity];
    duplicates = new DuplicateTable(capacity);
    epoch = readEpoch();
  }

  void clear() {
    size = 0;
    totalBytes = 0;
    withoutBlock = 0;
    ran = Ran.NOTHING;
    duplicates.clear();
  }

  /** Adds an entry; {@code block} 0 for one that only existence is asked of. */
  @SuppressWarnings("ReferenceEquality") // a key that stood here in the round before is there still, bytes and all
  void add(KvKey key, long block, long bytes) {
    int index = size;
    if (index == keys.length) throw new IllegalStateException("batch is full: capacity " + keys.length);
    if (index == 0 && gate.ordinal() != ordinal) epoch = readEpoch();
    if (keys[index] != key) {
      columns.key(index, key.terminated());
      keys[index] = key;
    }
    int first = duplicates.enter(keys, index);
    if (first != DuplicateTable.NONE) {
      throw new IllegalArgumentException("entry " + index + " has the key of entry " + first + ": " + key);
    }
    blocks[index] = block;
    if (block == 0) withoutBlock++;
    if (objectBytes[index] != bytes) {
      objectBytes[index] = bytes;
      sizesChanged = true;
    }
    totalBytes += bytes;
    size = index + 1;
    ran = Ran.NOTHING;
  }

  /** Takes what was added so far for the operation that begins. */
  void seal() {
    sealed = size;
    ran = Ran.NOTHING;
  }

  /** Forgets outcomes before an operation and brings the column of sizes up to date. */
  void start(Ran operation) {
    Arrays.fill(outcomes, 0, sealed, Outcome.UNSET);
    details = null;
    ran = operation;
    if (sizesChanged) {
      columns.sizes(objectBytes, keys.length);
      sizesChanged = false;
    }
  }

  /** Gives every entry that has no outcome yet the same one. */
  void finish(long outcome) {
    for (int i = 0; i < sealed; i++) {
      if (outcomes[i] == Outcome.UNSET) outcomes[i] = outcome;
    }
  }

  /** Keeps what the outcome of an entry leaves open. */
  void detail(int index, String detail) {
    if (detail.isEmpty()) return;
    @Nullable
    String[] kept = details == null ? new String[keys.length] : details;
    kept[index] = detail;
    details = kept;
  }

  /** {@return what the outcome of an entry leaves open, empty if nothing} */
  String detail(int index) {
    String kept = details == null ? null : details[index];
    return kept == null ? "" : kept;
  }

  void requireBlocks(String operation) {
    if (withoutBlock == 0) return;
    int index = 0;
    while (blocks[index] != 0)
      index++;
    throw new IllegalStateException(operation + " refused: " + describe(index) + " was added without a block");
  }

  /** Refuses entries that were added under an earlier epoch. */
  void requireCurrent(String operation) {
    if (gate.ordinal() == ordinal || sealed == 0) return;
    throw new EpochChangedException(operation + " refused: the batch was filled before the refit to " + gate.epoch()
        + "; compute again");
  }

  /** Gives the keys the epoch in force. {@return whether it is another than they had} */
  boolean rekey() {
    if (gate.ordinal() == ordinal) return false;
    epoch = readEpoch();
    return true;
  }

  /** {@return the epoch that the keys carry} */
  WeightEpoch epoch() {
    return epoch;
  }

  String describe(int index) {
    return "entry " + index + " (" + keys[index] + ')';
  }

  private WeightEpoch readEpoch() {
    WeightEpoch read;
    do {
      ordinal = gate.ordinal();
      read = gate.epoch();
    } while (gate.ordinal() != ordinal);
    columns.prefix(codec.prefix(read));
    return read;
  }
}
