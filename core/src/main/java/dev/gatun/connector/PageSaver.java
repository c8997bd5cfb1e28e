package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.connector.FinishedTransfers.Save;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.StoreBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Carries out saves, one at a time, on the transfer thread: single pages from their blocks, groups through staging. A group
 * with a block that cannot be read is not stored at all.
 */
final class PageSaver {
  private final BlockPool cache;
  private final StoreBatch singles;
  private final @Nullable GroupStaging staging;
  private final Counts counts;

  PageSaver(BlockPool cache, StoreBatch singles, @Nullable GroupStaging staging, Counts counts) {
    this.cache = cache;
    this.singles = singles;
    this.staging = staging;
    this.counts = counts;
  }

  /** Never throws for what a store, a refit or the host's blocks may do: blocks are not stored then. */
  Save save(SaveJob job) {
    Progress progress = new Progress();
    List<PageObject> single = job.objects().stream().filter(object -> !object.isGroup()).toList();
    List<PageObject> grouped = job.objects().stream().filter(PageObject::isGroup).toList();
    try {
      if (staging != null) {
        for (int i = 0; i < grouped.size(); i += staging.slots())
          saveGroups(job, grouped.subList(i, Math.min(grouped.size(), i + staging.slots())), progress, staging);
      }
      for (int i = 0; i < single.size(); i += singles.capacity())
        saveSingles(job, single.subList(i, Math.min(single.size(), i + singles.capacity())), progress);
    } catch (GatunException | IllegalStateException failed) {
      progress.fail("save failed: " + failed.getMessage());
    }
    int failed = job.size() - progress.stored;
    counts.add("blocks_save_failed", failed);
    return new Save(StoreConnector.NAME, job.request(), job.number(), failed, failed == 0 ? "" : progress.reason);
  }

  private void saveSingles(SaveJob job, List<PageObject> objects, Progress progress) {
    singles.clear();
    for (PageObject object : objects) {
      long block = job.blocks().get(object.first());
      if (isReadable(object.first(), block, progress)) singles.add(object.key(), block);
    }
    if (singles.size() > 0) put(singles, 1, progress);
  }

  /** One block that cannot be saved must not keep the others from being. */
  private boolean isReadable(int place, long block, Progress progress) {
    try {
      cache.beginRead(block);
      cache.endRead(block);
      return true;
    } catch (GatunException | IllegalStateException refused) {
      progress.fail("block " + place + ": " + refused.getMessage());
      return false;
    }
  }

  private void saveGroups(SaveJob job, List<PageObject> objects, Progress progress, GroupStaging ring) {
    long[] slots = ring.tryLease(objects.size());
    try {
      if (slots.length < objects.size()) progress.fail("no staging block is free, transfers in doubt have them");
      String[] refusals = ring.gather(objects, job.blocks(), slots);
      ring.batch().clear();
      for (int i = 0; i < slots.length; i++) {
        PageObject object = objects.get(i);
        if (refusals[i].isEmpty()) ring.batch().add(object.key(), slots[i]);
        else
          progress.fail("blocks " + object.first() + " to " + (object.end() - 1) + ": " + refusals[i]);
      }
      if (ring.batch().size() > 0) put(ring.batch(), objects.getFirst().blocks(), progress);
    } finally {
      ring.giveBack(slots);
    }
  }

  private void put(StoreBatch batch, int blocksEach, Progress progress) {
    try {
      batch.put();
    } catch (StoreException failed) {
      progress.fail("save failed: " + failed.getMessage()); // every entry has an outcome all the same
    }
    int stored = 0;
    for (int i = 0; i < batch.size(); i++) {
      if (batch.isStored(i)) stored += blocksEach;
      else
        progress.fail(batch.key(i) + ": " + batch.code(i));
      if (batch.code(i) == StoreCode.OBJECT_ALREADY_EXISTS) counts.add("blocks_already_present", blocksEach);
    }
    progress.stored += stored;
    counts.add("blocks_saved", stored);
    counts.add("bytes_saved", stored * cache.pageBytes());
  }

  /** What has become of a save so far. */
  private static final class Progress {
    private int stored;
    private String reason = "";

    /** The first reason counts. */
    void fail(String why) {
      if (reason.isEmpty()) reason = why;
    }
  }
}
