package dev.gatun.cli.replay;

import dev.gatun.cli.replay.PageContent.Verdict;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;

/** Pages made and checked where the store reads and writes them: in the blocks of the pool. */
final class HostPages implements ReplicaPages {
  private final BlockPool pool;
  private final Verdict[] verdicts;
  private final long[] carried;

  HostPages(BlockPool pool, int batchPages) {
    this.pool = pool;
    verdicts = new Verdict[batchPages];
    carried = new long[batchPages];
  }

  @Override
  public void make(PageList pages) {
    for (int i = 0; i < pages.size(); i++)
      PageContent.fill(pool.rewrite(pages.block(i)), pages.digest(i), pages.version(), pages.hashId(i));
  }

  @Override
  public void check(PageList pages) {
    for (int i = 0; i < pages.size(); i++) {
      MemorySegment page = pool.page(pages.block(i));
      verdicts[i] = PageContent.check(page, pages.digest(i), pages.version(), pages.hashId(i));
      carried[i] = PageContent.carriedDigest(page);
    }
  }

  @Override
  public Verdict verdict(int index) {
    return verdicts[index];
  }

  @Override
  public long carriedDigest(int index) {
    return carried[index];
  }

  @Override
  public void close() {}
}
