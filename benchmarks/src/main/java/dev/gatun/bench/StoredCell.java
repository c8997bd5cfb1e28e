package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.PinnedSlab;
import dev.gatun.device.StagingOptions;
import dev.gatun.device.StagingPipeline;
import dev.gatun.device.StreamPriority;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Pages of one fragment size between GPU memory and a store, moved by some workers. */
final class StoredCell implements AutoCloseable {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final KvStore store;
  private final int pages;
  private final PlacedCache cache;
  private final List<StoredPages> workers = new ArrayList<>();
  private final ExecutorService threads;
  private final int[] from;
  private final int[] to;
  private final KvKey[] keys;

  StoredCell(Device gpu, KvStore store, long fragmentBytes, long bytes, long groupBytes, int count) {
    this.store = store;
    long pageBytes = 160 * fragmentBytes;
    int group = Math.toIntExact(Math.max(1, groupBytes / pageBytes));
    pages = Math.toIntExact(Math.max(1, bytes / pageBytes / group)) * group;
    cache = opened(new PlacedCache(gpu, fragmentBytes, 2 * pages));
    cache.fill();
    Slab slab = opened(
        Slab.allocate(SlabOptions.of("pages", (long) count * group * (pageBytes + 64)).prefaulted()));
    store.register(slab);
    opened(() -> store.unregister(slab));
    PinnedSlab pinned = opened(gpu.pin(slab));
    BlockPool pool = opened(BlockPool.over(slab, new PoolLayout(pageBytes, count * group), store.gate()));
    DeviceStream engine = opened(gpu.newStream("engine", StreamPriority.HIGH));
    DeviceEvent ready = opened(gpu.newEvent("ready"));
    engine.record(ready);
    StagingPipeline pipeline = opened(StagingPipeline.open(cache.cache().layout(), List.of(cache.memory()), pool,
        pinned, StagingOptions.DEFAULT));
    for (int i = 0; i < count; i++)
      workers.add(opened(new StoredPages(pipeline, pool, store, ready, group)));
    threads = Executors.newFixedThreadPool(count);
    opened(threads);
    List<Integer> blocks = new ArrayList<>();
    for (int block = 0; block < 2 * pages; block++)
      blocks.add(block);
    Collections.shuffle(blocks, new Random(fragmentBytes));
    from = blocks.subList(0, pages).stream().mapToInt(Integer::intValue).toArray();
    to = blocks.subList(pages, 2 * pages).stream().mapToInt(Integer::intValue).toArray();
    keys = new KvKey[pages];
    for (int i = 0; i < pages; i++)
      keys[i] = KvKey.of("page-" + i);
  }

  private <R extends AutoCloseable> R opened(R resource) {
    open.push(resource);
    return resource;
  }

  /** Saves all pages, loads them into other blocks; adds medians in GB/s, and what went wrong. */
  void measure(int repeats, ObjectNode row) {
    double[] puts = new double[repeats];
    double[] gets = new double[repeats];
    int failed = 0;
    for (int round = -1; round < repeats; round++) {
      StoredPages.Todo saves = new StoredPages.Todo(from, keys);
      StoredPages.Todo loads = new StoredPages.Todo(to, keys);
      long start = System.nanoTime();
      failed += run(worker -> worker.saving(saves));
      long middle = System.nanoTime();
      failed += run(worker -> worker.loading(loads));
      long end = System.nanoTime();
      store.removeAll(true);
      if (round < 0) continue;
      puts[round] = bytes() / (double) (middle - start);
      gets[round] = bytes() / (double) (end - middle);
    }
    int[] sourceOf = new int[2 * pages];
    for (int i = 0; i < pages; i++) {
      sourceOf[from[i]] = from[i];
      sourceOf[to[i]] = from[i];
    }
    row.put("fragmentBytes", cache.pageBytes() / 160).put("pages", pages).put("bytes", bytes())
        .put("workers", workers.size()).put("failed", failed).put("wrongBlocks", cache.wrongBlocks(sourceOf))
        .put("putGBps", Quantiles.median(puts)).put("getGBps", Quantiles.median(gets));
  }

  private long bytes() {
    return pages * cache.pageBytes();
  }

  private int run(Function<StoredPages, Callable<Integer>> work) {
    try {
      int failed = 0;
      for (Future<Integer> end : threads.invokeAll(workers.stream().map(work).toList()))
        failed += end.get();
      return failed;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
