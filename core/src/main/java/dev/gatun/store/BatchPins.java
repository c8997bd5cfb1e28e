package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.InUseException;
import dev.gatun.memory.BlockPool;
import org.jspecify.annotations.Nullable;

/** Marks the blocks of a batch as used by a transfer and fills the column of their addresses; then lets them go. */
final class BatchPins {
  private final BatchEntries entries;
  private final BlockPool pool;
  private final RegisteredSlab registered;
  private final QuarantinedBlocks quarantined;
  private final @Nullable Stamp stamp;
  private final StampClaims claims;
  private final long[] addresses;
  /** The blocks that were marked: these are let go, whatever the entries hold by then. */
  private final long[] marked;
  private final long strideBytes;
  /** Of the object in block 0: a header that the codec does not use is left out. */
  private final long firstAddress;
  private final long slabAddress;

  BatchPins(BatchEntries entries, BlockPool pool, RegisteredSlab registered, QuarantinedBlocks quarantined,
      KeyCodec codec, @Nullable Stamp stamp) {
    this.entries = entries;
    this.pool = pool;
    this.registered = registered;
    this.quarantined = quarantined;
    this.stamp = stamp;
    claims = StampClaims.of(pool);
    addresses = new long[entries.keys.length];
    marked = new long[entries.keys.length];
    strideBytes = pool.layout().strideBytes();
    firstAddress = pool.baseAddress() + pool.headerBytes() - codec.headerBytes();
    slabAddress = pool.slab().segment().address();
  }

  /** Marks every block as being read and stamps it; all or, with an exception that names the entry, none. */
  void forPut() {
    int i = 0;
    try {
      for (; i < entries.sealed; i++) {
        long block = entries.blocks[i];
        pool.beginRead(block);
        marked[i] = block;
        addresses[i] = address(block);
        if (stamp != null) stampPage(stamp, i, offset(i));
      }
      entries.columns.pages(addresses, entries.sealed);
    } catch (RuntimeException refused) {
      for (int k = 0; k < i; k++)
        endPut(k, 0);
      throw named("put", i, refused);
    }
  }

  /**
   * Marks every block as being written; all or none. Renewing takes blocks of the epoch before a refit along.
   *
   * @param renew whether to
   * @param references how many of each block its holder and this operation have together
   */
  void forGet(boolean renew, int references) {
    int i = 0;
    try {
      for (; i < entries.sealed; i++) {
        long block = entries.blocks[i];
        if (renew) pool.renew(block, references);
        pool.beginWrite(block);
        marked[i] = block;
        addresses[i] = address(block);
      }
      entries.columns.pages(addresses, entries.sealed);
    } catch (RuntimeException refused) {
      for (int k = 0; k < i; k++)
        pool.cancelWrite(marked[k]);
      throw named("get", i, refused);
    }
  }

  /** Lets the block of a put go, or keeps it if native code may still read it. */
  void endPut(int index, long outcome) {
    long block = marked[index];
    if (outcome != 0 && Outcome.leavesNativeRunning(outcome)) {
      quarantined.add(pool, registered, block, stamp == null ? null : claims);
      return;
    }
    if (stamp != null) claims.release(pool.blockIndex(block));
    pool.endRead(block);
  }

  /** Lets the block of a get go, or keeps it if native code may still write it. */
  void endGet(int index, long outcome) {
    long block = marked[index];
    if (outcome < 0 && Outcome.leavesNativeRunning(outcome)) {
      quarantined.add(pool, registered, block, null);
    } else {
      pool.endWrite(block, outcome > 0);
    }
  }

  /** {@return where in the slab the object of an entry begins} */
  long offset(int index) {
    return addresses[index] - slabAddress;
  }

  private long address(long block) {
    return firstAddress + pool.blockIndex(block) * strideBytes;
  }

  private void stampPage(Stamp with, int index, long offset) {
    long block = marked[index];
    boolean claimed = false;
    try {
      with.encode(offset, entries.keys[index].hash(), entries.objectBytes[index] - Stamp.BYTES);
      claimed = claims.claim(pool.blockIndex(block), with, offset);
    } finally {
      if (!claimed) pool.endRead(block);
    }
    if (claimed) return;
    throw new InUseException("its block is being put under another key or length; put it again when that has ended");
  }

  private RuntimeException named(String operation, int index, RuntimeException cause) {
    String message = operation + " refused, nothing was sent: " + entries.describe(index) + ": " + cause.getMessage();
    return switch (cause) {
      case EpochChangedException e -> initialised(new EpochChangedException(message), e);
      case ClosedException e -> initialised(new ClosedException(message), e);
      case InUseException e -> initialised(new InUseException(message), e);
      case IllegalArgumentException e -> new IllegalArgumentException(message, e);
      case IllegalStateException e -> new IllegalStateException(message, e);
      default -> cause;
    };
  }

  private static RuntimeException initialised(RuntimeException named, RuntimeException cause) {
    named.initCause(cause);
    return named;
  }
}
