package dev.gatun.cli.replay;

import dev.gatun.cli.replay.PageContent.Verdict;

/** Where a replica makes and checks its pages. One thread. */
interface ReplicaPages extends AutoCloseable {

  /** Makes pages and leaves them in their blocks of the pool, ready to be put. */
  void make(PageList pages);

  /** Takes pages that were got into blocks of the pool, and compares every byte. */
  void check(PageList pages);

  /** {@return what a page of the last check turned out to be} */
  Verdict verdict(int index);

  /** {@return the digest that a page of the last check carries, right or wrong} */
  long carriedDigest(int index);

  @Override
  void close();
}
