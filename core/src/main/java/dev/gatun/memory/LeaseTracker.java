package dev.gatun.memory;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** Remembers for each block where its lease was taken. */
final class LeaseTracker {
  // 16 frames: reaches from the pool through a connector into the application; unmeasured default
  private static final int FRAMES_MAX = 16;
  private static final StackWalker WALKER = StackWalker.getInstance();

  private final AtomicReferenceArray<@Nullable LeaseSite> sites;

  LeaseTracker(int count) {
    sites = new AtomicReferenceArray<>(count);
  }

  void onLease(int index) {
    List<StackTraceElement> stack = WALKER.walk(frames -> frames
        .dropWhile(frame -> frame.getClassName().equals(LeaseTracker.class.getName())
            || frame.getClassName().equals(PoolLeases.class.getName())
            || frame.getClassName().equals(BlockPool.class.getName())
            || frame.getClassName().equals(Sequence.class.getName()))
        .limit(FRAMES_MAX).map(StackWalker.StackFrame::toStackTraceElement).toList());
    sites.set(index, new LeaseSite(Thread.currentThread().getName(), stack, null));
  }

  void onTransfer(int index) {
    LeaseSite site = sites.get(index);
    if (site != null) sites.set(index, new LeaseSite(site.thread(), site.stack(), Thread.currentThread().getName()));
  }

  @Nullable
  LeaseSite site(int index) {
    return sites.get(index);
  }
}
