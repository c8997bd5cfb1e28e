package dev.gatun.memory;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a lease was taken.
 *
 * @param thread name of the leasing thread
 * @param stack the calls that led to the lease, innermost first, at most 16
 * @param transferThread name of the thread that last began a transfer, if one did
 */
public record LeaseSite(String thread, List<StackTraceElement> stack, @Nullable String transferThread) {
  @Override
  public String toString() {
    return "leased by thread " + thread + (stack.isEmpty() ? "" : " at " + stack.getFirst())
        + (transferThread == null ? "" : ", last transfer by thread " + transferThread);
  }
}
