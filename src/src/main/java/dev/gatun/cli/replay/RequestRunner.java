package dev.gatun.cli.replay;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import dev.gatun.store.StoreBatch;

/**
 * Replays single requests as an inference host does: asks for the longest prefix of the prompt's blocks that the store
 * has, gets and checks these pages, computes the others and puts them. Computing a page reads the digest in the page
 * before it, as it came from the store, so what is wrong there goes on. One thread.
 */
final class RequestRunner {
  private final Trace trace;
  private final BlockPool pool;
  private final ReplicaPages pages;
  private final StoreBatch batch;
  private final int batchPages;
  private final ExpectedDigests expected;
  private final ReplicaFigures figures;
  private final Outage outage;
  private final long[] blocks;
  private final PageList list;
  private final KvKey[] keys;
  /** Digest in the page before the one at hand. */
  private long carried;

  RequestRunner(Trace trace, BlockPool pool, ReplicaPages pages, StoreBatch batch, int batchPages,
      ReplicaFigures figures, Outage outage) {
    this.trace = trace;
    this.pool = pool;
    this.pages = pages;
    this.batch = batch;
    this.batchPages = batchPages;
    this.figures = figures;
    this.outage = outage;
    expected = new ExpectedDigests(trace);
    blocks = new long[batchPages];
    list = new PageList(blocks);
    keys = new KvKey[trace.distinctBlocks()];
  }

  /** Replays a request with pages of the given weight version. */
  void run(int request, long version) {
    int count = trace.blockCount(request);
    for (int i = 0; i < batchPages && i < count; i++)
      blocks[i] = pool.lease();
    try {
      replay(request, version, count);
    } catch (StoreException whole) {
      outage.failed(String.valueOf(whole.getMessage()));
      figures.fail("request " + request + ": " + whole.getMessage());
    } finally {
      for (int i = 0; i < batchPages && i < count; i++)
        pool.release(blocks[i]);
    }
    figures.count(Figure.REQUESTS, 1);
    figures.count(Figure.BLOCKS, count);
  }

  private void replay(int request, long version, int count) {
    carried = PageContent.ROOT_DIGEST;
    int cached = getPrefix(request, version, presentPrefix(request, count));
    for (int from = cached; from < count && !outage.isTotal(); from += batchPages) {
      put(request, version, from, Math.min(batchPages, count - from));
    }
  }

  private int presentPrefix(int request, int count) {
    int present = 0;
    while (present < count) {
      int asked = select(request, present, Math.min(batchPages, count - present));
      long start = System.nanoTime();
      batch.exists();
      figures.existsTimes.record(System.nanoTime() - start);
      outage.ended("exists", batch);
      int found = 0;
      while (found < asked && batch.existence(found) == Existence.PRESENT)
        found++;
      present += found;
      if (found < asked) return present;
    }
    return present;
  }

  /** Gets and checks the first {@code present} pages; answers how many really came. */
  private int getPrefix(int request, long version, int present) {
    int got = 0;
    while (got < present) {
      int asked = select(request, got, Math.min(batchPages, present - got));
      long start = System.nanoTime();
      batch.get();
      figures.getTimes.record(System.nanoTime() - start);
      outage.ended("get", batch);
      int came = 0;
      while (came < asked && batch.isHit(came))
        came++;
      check(request, got, came, version);
      got += came;
      if (came < asked) {
        lost(came, request, got);
        return got;
      }
    }
    return got;
  }

  private void check(int request, int from, int count, long version) {
    list.clear(version);
    for (int i = 0; i < count; i++) {
      int block = trace.block(request, from + i);
      list.add(expected.of(block, version), trace.hashId(block));
    }
    if (count == 0) return;
    pages.check(list);
    figures.count(Figure.HITS, count);
    figures.count(Figure.HIT_BYTES, count * pool.pageBytes());
    for (int i = 0; i < count; i++) {
      switch (pages.verdict(i)) {
        case RIGHT -> {
        }
        case STALE -> figures.count(Figure.STALE_PAGES, 1);
        case WRONG -> figures.count(Figure.WRONG_PAGES, 1);
      }
    }
    carried = pages.carriedDigest(count - 1);
  }

  private void lost(int index, int request, int position) {
    if (batch.rejection(index) != null) {
      figures.count(Figure.REJECTED_PAGES, 1);
      return;
    }
    switch (batch.code(index)) {
      case OBJECT_NOT_FOUND, LEASE_EXPIRED -> figures.count(Figure.LOST_HITS, 1);
      default -> failed("get", index, request, position);
    }
  }

  private void put(int request, long version, int from, int count) {
    list.clear(version);
    for (int i = 0; i < count; i++) {
      int block = trace.block(request, from + i);
      int before = from + i == 0 ? Trace.NONE : trace.block(request, from + i - 1);
      int predecessor = trace.predecessor(block);
      long digestBefore = predecessor == before ? carried : expected.of(predecessor, version);
      carried = PageContent.digest(digestBefore, version, trace.hashId(block));
      list.add(carried, trace.hashId(block));
    }
    pages.make(list);
    select(request, from, count);
    long start = System.nanoTime();
    batch.put();
    figures.putTimes.record(System.nanoTime() - start);
    outage.ended("put", batch);
    for (int i = 0; i < count; i++) {
      if (batch.isStored(i)) {
        figures.count(Figure.PUTS, 1);
        figures.count(Figure.PUT_BYTES, pool.pageBytes());
      } else if (batch.code(i) == StoreCode.NO_AVAILABLE_HANDLE) {
        figures.count(Figure.REFUSED_PUTS, 1);
      } else {
        failed("put", i, request, from + i);
      }
    }
  }

  private void failed(String operation, int index, int request, int position) {
    figures.fail(operation + " of block " + position + " of request " + request + ": " + batch.code(index) + " ("
        + batch.rawCode(index) + ")");
  }

  private int select(int request, int from, int count) {
    batch.clear();
    for (int i = 0; i < count; i++)
      batch.add(key(trace.block(request, from + i)), blocks[i]);
    return count;
  }

  private KvKey key(int block) {
    KvKey key = keys[block];
    if (key == null) {
      key = KvKey.of(Long.toHexString(trace.hashId(block)));
      keys[block] = key;
    }
    return key;
  }
}
