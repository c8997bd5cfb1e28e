package dev.gatun.store;

import dev.gatun.backend.StoreCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of one entry as one {@code long}: 0 or more is success (a length, or 1 and 0 for existence), -2^31 and above
 * the library's negative code, below that one of Gatun's own verdicts.
 */
final class Outcome {
  /** Not asked yet. */
  static final long UNSET = Long.MIN_VALUE;
  private static final long FIRST_REJECTION = Long.MIN_VALUE + 1;
  /** Codes of entries that were not sent, moved out of the range of codes. */
  private static final long UNSENT = -1L << 40;
  /** Outcome of entries that an exception kept from being sent. */
  static final long NOT_SENT = UNSENT + StoreCode.UNAVAILABLE_IN_CURRENT_STATUS.raw();
  private static final List<Rejection> REJECTIONS = List.of(Rejection.values());

  private Outcome() {}

  static long of(Rejection reason) {
    return FIRST_REJECTION + REJECTIONS.indexOf(reason);
  }

  /** {@return the outcome of an entry that fails with this code although the library was not asked for it} */
  static long unsent(long rawCode) {
    return UNSENT + rawCode;
  }

  static @Nullable Rejection rejection(long outcome) {
    return isRejection(outcome) ? REJECTIONS.get((int) (outcome - FIRST_REJECTION)) : null;
  }

  static boolean isRejection(long outcome) {
    return outcome >= FIRST_REJECTION && outcome < FIRST_REJECTION + REJECTIONS.size();
  }

  /** {@return 0 for success, else the code as a number} */
  static long rawCode(long outcome) {
    if (outcome >= 0) return 0;
    if (outcome >= Integer.MIN_VALUE) return outcome;
    return isRejection(outcome) ? StoreCode.PAGE_REJECTED.raw() : outcome - UNSENT;
  }

  /** {@return whether native code may still touch the memory after this answer} */
  static boolean leavesNativeRunning(long outcome) {
    return outcome == StoreCode.TRANSFER_FAIL.raw() || outcome == StoreCode.INTERNAL_ERROR.raw();
  }
}
