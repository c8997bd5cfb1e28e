package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.TransferRequests;
import dev.gatun.memory.BlockPool;
import java.util.Arrays;

/**
 * Marks the blocks of a batch as used by a transfer, then lets them go or hands them to quarantine. Requests of one block
 * and direction that stand side by side share one mark.
 */
final class Pins {
  private final BlockPool pool;
  private final TransferRequests requests;
  private final long[] blocks;

  Pins(BlockPool pool, TransferRequests requests, long[] blocks) {
    this.pool = pool;
    this.requests = requests;
    this.blocks = blocks;
  }

  /** Marks every block; all or, with an exception that names the request, none. */
  void begin() {
    int i = 0;
    try {
      while (i < requests.size()) {
        if (isRead(i)) pool.beginWrite(blocks[i]);
        else
          pool.beginRead(blocks[i]);
        i = end(i);
      }
    } catch (RuntimeException refused) {
      for (int k = 0; k < i; k = end(k)) {
        if (isRead(k)) pool.cancelWrite(blocks[k]);
        else
          pool.endRead(blocks[k]);
      }
      throw named(i, refused);
    }
  }

  /** Lets every block go; what could not be read in whole holds nothing usable. */
  void end(Outcomes outcomes) {
    int next;
    for (int i = 0; i < requests.size(); i = next) {
      next = end(i);
      letGo(i, outcomes.allCompleted(i, next));
    }
  }

  /** Lets the blocks go whose requests have ended, quarantines the others. {@return the latter} */
  long[] endOrQuarantine(Outcomes outcomes) {
    long[] quarantined = new long[requests.size()];
    int count = 0;
    int next;
    for (int i = 0; i < requests.size(); i = next) {
      next = end(i);
      if (outcomes.allTerminal(i, next)) {
        letGo(i, outcomes.allCompleted(i, next));
      } else {
        pool.quarantine(blocks[i]);
        quarantined[count++] = blocks[i];
      }
    }
    return Arrays.copyOf(quarantined, count);
  }

  private void letGo(int index, boolean valid) {
    if (isRead(index)) pool.endWrite(blocks[index], valid);
    else
      pool.endRead(blocks[index]);
  }

  /** {@return the place after the run of requests that share the mark of this one} */
  private int end(int first) {
    int next = first + 1;
    while (next < requests.size() && blocks[next] == blocks[first] && isRead(next) == isRead(first))
      next++;
    return next;
  }

  private boolean isRead(int index) {
    return requests.opcode(index) == TransferRequests.READ;
  }

  private static RuntimeException named(int index, RuntimeException cause) {
    String message = "submit refused, nothing was sent: request " + index + ": " + cause.getMessage();
    return switch (cause) {
      case EpochChangedException e -> initialised(new EpochChangedException(message), e);
      case ClosedException e -> initialised(new ClosedException(message), e);
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
