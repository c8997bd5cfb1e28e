package dev.gatun.connector;

import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.FinishedTransfers.Save;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves pages between one cache and one store. Made by any thread, then used by the transfer thread alone. */
final class PageMover implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PageMover.class);
  // 128: what Mooncake's own clients send at once; more gains little (6 us a key put, measured)
  private static final int SINGLES_MAX = 128;

  private final StoreBatch singles;
  private final @Nullable GroupStaging staging;
  private final PageLoader loader;
  private final PageSaver saver;

  PageMover(KvStore store, BlockPool cache, StoreTransferOptions options, Counts counts) {
    singles = store.batch(cache, SINGLES_MAX);
    try {
      staging = options.blocksPerGroup() == 1
          ? null
          : new GroupStaging(store, cache, options.blocksPerGroup(), options.stagingBytes());
    } catch (RuntimeException | Error e) {
      singles.close();
      throw e;
    }
    singles.replicate(options.placement());
    if (staging != null) staging.batch().replicate(options.placement());
    loader = new PageLoader(cache, singles, staging, counts);
    saver = new PageSaver(cache, singles, staging, counts);
  }

  /** Always answers: nobody would wait for a load whose thread has died. */
  Load load(LoadJob job) {
    try {
      return loader.load(job);
    } catch (RuntimeException | Error e) {
      LOG.error("load of request {} failed", job.request(), e);
      return TransferQueue.failed(job, "load failed: " + e);
    }
  }

  /** Always answers, like {@link #load}. */
  Save save(SaveJob job) {
    try {
      return saver.save(job);
    } catch (RuntimeException | Error e) {
      LOG.error("save of request {} failed", job.request(), e);
      return TransferQueue.failed(job, "save failed: " + e);
    }
  }

  @Override
  public void close() {
    singles.close();
    if (staging != null) staging.close();
  }
}
