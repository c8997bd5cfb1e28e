package dev.gatun.bench;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.store.GetResult;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/** Reads all pages again and again, as anybody could who knows their keys, and remembers whether one was too old. */
final class EpochOracle implements AutoCloseable {
  private final KvStore store;
  private final Arena arena = Arena.ofShared(); // oracle
  private final MemorySegment page = arena.allocate(TrafficPages.BYTES);
  private final AtomicLong pages = new AtomicLong();
  private final AtomicLong sweeps = new AtomicLong();
  private volatile Watch watch = new Watch(0);
  private final Loop loop;

  /** One epoch: what was asked for within it counts for it alone. */
  private static final class Watch {
    private final long version;
    private volatile boolean older;

    Watch(long version) {
      this.version = version;
    }
  }

  EpochOracle(StoreOptions options) {
    store = KvStore.open(options, KeyCodec.verbatim(), new EpochGate(new WeightEpoch("oracle", 1)), Observer.NONE);
    loop = new Loop(this::sweep);
  }

  private void sweep() {
    TrafficPages.KEYS.forEach(this::look);
    sweeps.incrementAndGet();
  }

  private void look(KvKey key) {
    Watch now = watch;
    if (!(store.get(key, page) instanceof GetResult.Hit)) return;
    pages.incrementAndGet();
    if (TrafficPages.oldest(page) < now.version) now.older = true;
  }

  /** Begins to watch an epoch: from now on no page may be of older weights. */
  void expect(long version) {
    watch = new Watch(version);
  }

  /** {@return whether an older page could be read since it was told to expect none} */
  boolean sawOlder() {
    return watch.older;
  }

  /** {@return how often it was through all keys} */
  long sweeps() {
    loop.requireRunning();
    return sweeps.get();
  }

  /** {@return pages that it got} */
  long pages() {
    return pages.get();
  }

  @Override
  public void close() {
    loop.close();
    store.close();
    arena.close();
  }
}
