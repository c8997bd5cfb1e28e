package dev.gatun.memory;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Which thread owns which cache of a pool. A platform thread takes one near its home place, where its thread number
 * points, and keeps it until it dies; virtual threads own none, since there may be millions.
 */
final class CacheOwners {
  /** Caches: a power of two, 4 times the 16 threads of the benchmark; unmeasured default. */
  static final int COUNT = 64;

  // 4 places from home: enough for the few neighbours whose numbers collide, cheap for those who find no place
  private static final int PROBES = 4;

  private final long[] ids = new long[COUNT];
  private final AtomicReferenceArray<@Nullable WeakReference<Thread>> threads = new AtomicReferenceArray<>(COUNT);

  /** {@return the calling thread's cache, or the complement of its home place if it owns none} */
  int own() {
    long id = Thread.currentThread().threadId();
    int home = (int) id & (COUNT - 1);
    // only the owner writes its own number here, so reading it back without ordering is exact
    return ids[home] == id ? home : elsewhere(id, home);
  }

  private int elsewhere(long id, int home) {
    Thread self = Thread.currentThread();
    if (self.isVirtual()) return ~home;
    for (int i = 1; i < PROBES; i++) {
      int place = (home + i) & (COUNT - 1);
      if (ids[place] == id) return place;
    }
    for (int i = 0; i < PROBES; i++) {
      int place = (home + i) & (COUNT - 1);
      WeakReference<Thread> owner = threads.get(place);
      if (isDead(owner) && threads.compareAndSet(place, owner, new WeakReference<>(self))) {
        ids[place] = id;
        return place;
      }
    }
    return ~home;
  }

  private static boolean isDead(@Nullable WeakReference<Thread> owner) {
    if (owner == null) return true;
    Thread thread = owner.get();
    return thread == null || !thread.isAlive();
  }
}
