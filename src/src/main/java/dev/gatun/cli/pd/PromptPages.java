package dev.gatun.cli.pd;

import dev.gatun.cli.replay.PageContent;
import dev.gatun.cli.replay.PageContent.Verdict;
import dev.gatun.connector.BlockTable;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.KvKey;
import java.util.List;
import java.util.stream.IntStream;

/** The pages of a prompt: each is made from the one before it, so that one wrong page makes all that follow differ. */
record PromptPages(int prompt, int pages) {
  static final long VERSION = 1;

  /** Names the blocks. */
  List<KvKey> keys() {
    return IntStream.range(0, pages).mapToObj(page -> KvKey.of("prompt-" + prompt + '-' + page)).toList();
  }

  /** Computes every page. */
  void compute(BlockPool pool, BlockTable blocks) {
    long digest = PageContent.ROOT_DIGEST;
    for (int page = 0; page < pages; page++) {
      digest = PageContent.digest(digest, VERSION, hashId(page));
      PageContent.fill(pool.page(blocks.get(page)), digest, VERSION, hashId(page));
    }
  }

  /** {@return pages that are not what they must be, every byte compared} */
  int wrong(BlockPool pool, BlockTable blocks) {
    int wrong = 0;
    long digest = PageContent.ROOT_DIGEST;
    for (int page = 0; page < pages; page++) {
      digest = PageContent.digest(digest, VERSION, hashId(page));
      if (PageContent.check(pool.page(blocks.get(page)), digest, VERSION, hashId(page)) != Verdict.RIGHT) wrong++;
    }
    return wrong;
  }

  private long hashId(int page) {
    return ((long) prompt << Integer.SIZE) + page;
  }
}
