package dev.gatun.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The caches of a pool and the threads that own them. A platform thread takes one near its home place, where its thread
 * number points, and keeps it until it dies; then another thread may take it over, content included. Virtual threads own
 * none, since there may be millions.
 */
final class ThreadCaches {
  private static final VarHandle CACHES = MethodHandles.arrayElementVarHandle(int[][].class);

  /** Places: a power of two, 4 times the 16 threads of the benchmark; unmeasured default. */
  static final int COUNT = 64;

  // 4 places from home: enough for the few neighbours whose numbers collide, cheap for those who find no place
  private static final int PROBES = 4;

  private final long[] ids = new long[COUNT];
  private final AtomicReferenceArray<@Nullable WeakReference<Thread>> threads = new AtomicReferenceArray<>(COUNT);
  private final int[][] caches = new int[COUNT][];
  private final int cacheLength;

  ThreadCaches(int cacheLength) {
    this.cacheLength = cacheLength;
  }

  /** {@return the calling thread's cache, which only it may write; null if it owns none} */
  int @Nullable [] own() {
    long id = Thread.currentThread().threadId();
    int home = (int) id & (COUNT - 1);
    // only the owner writes its own number here, so reading it back without ordering is exact
    return ids[home] == id ? caches[home] : elsewhere(id, home);
  }

  /** {@return the cache at a place, for reading; null if it was never owned} */
  int @Nullable [] at(int place) {
    return (int[]) CACHES.getAcquire(caches, place);
  }

  private int @Nullable [] elsewhere(long id, int home) {
    Thread self = Thread.currentThread();
    if (self.isVirtual()) return null;
    for (int i = 1; i < PROBES; i++) {
      int place = (home + i) & (COUNT - 1);
      if (ids[place] == id) return caches[place];
    }
    for (int i = 0; i < PROBES; i++) {
      int place = (home + i) & (COUNT - 1);
      WeakReference<Thread> owner = threads.get(place);
      if (isDead(owner) && threads.compareAndSet(place, owner, new WeakReference<>(self))) {
        if (caches[place] == null) CACHES.setRelease(caches, place, new int[cacheLength]);
        ids[place] = id;
        return caches[place];
      }
    }
    return null;
  }

  private static boolean isDead(@Nullable WeakReference<Thread> owner) {
    if (owner == null) return true;
    Thread thread = owner.get();
    return thread == null || !thread.isAlive();
  }
}
