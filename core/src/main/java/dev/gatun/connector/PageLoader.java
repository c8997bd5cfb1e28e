package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.StoreBatch;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Carries out loads, one at a time, on the transfer thread: single pages into their blocks, groups through staging. */
final class PageLoader {
  private final BlockPool cache;
  private final StoreBatch singles;
  private final @Nullable GroupStaging staging;
  private final Counts counts;

  PageLoader(BlockPool cache, StoreBatch singles, @Nullable GroupStaging staging, Counts counts) {
    this.cache = cache;
    this.singles = singles;
    this.staging = staging;
    this.counts = counts;
  }

  /** Never throws for what a store, a refit or the host's blocks may do: blocks are missing then. */
  Load load(LoadJob job) {
    Arrivals arrivals = new Arrivals(job);
    List<PageObject> single = job.objects().stream().filter(object -> !object.isGroup()).toList();
    List<PageObject> grouped = job.objects().stream().filter(PageObject::isGroup).toList();
    try {
      for (int i = 0; i < single.size(); i += singles.capacity())
        loadSingles(job, single.subList(i, Math.min(single.size(), i + singles.capacity())), arrivals);
      if (staging != null) {
        for (int i = 0; i < grouped.size(); i += staging.slots())
          loadGroups(job, grouped.subList(i, Math.min(grouped.size(), i + staging.slots())), arrivals, staging);
      }
    } catch (GatunException | IllegalStateException failed) {
      arrivals.fail("load failed: " + failed.getMessage());
    }
    return arrivals.report();
  }

  private void loadSingles(LoadJob job, List<PageObject> objects, Arrivals arrivals) {
    singles.clear();
    for (PageObject object : objects)
      singles.add(object.key(), job.blocks().get(object.first()));
    get(singles, arrivals);
    for (int i = 0; i < singles.size(); i++) {
      if (count(singles, i, 1, cache.pageBytes(), arrivals)) arrivals.arrived(objects.get(i).first());
      else if (singles.isHit(i)) invalidate(singles.block(i));
    }
  }

  /** A call that fails as a whole gives each entry an outcome too; whatever else is thrown was refused before. */
  private static void get(StoreBatch batch, Arrivals arrivals) {
    try {
      batch.get();
    } catch (StoreException failed) {
      arrivals.fail("load failed: " + failed.getMessage());
    }
  }

  /** A page that arrived too short must not be taken for one. */
  private void invalidate(long block) {
    cache.beginWrite(block);
    cache.endWrite(block, false);
  }

  private void loadGroups(LoadJob job, List<PageObject> objects, Arrivals arrivals, GroupStaging ring) {
    long[] slots = ring.tryLease(objects.size());
    try {
      if (slots.length < objects.size()) arrivals.fail("no staging block is free, transfers in doubt have them");
      if (slots.length == 0) return;
      ring.batch().clear();
      for (int i = 0; i < slots.length; i++)
        ring.batch().add(objects.get(i).key(), slots[i]);
      get(ring.batch(), arrivals);
      List<GroupStaging.Page> pages = new ArrayList<>();
      for (int i = 0; i < slots.length; i++) {
        PageObject object = objects.get(i);
        if (!count(ring.batch(), i, object.blocks(), object.blocks() * cache.pageBytes(), arrivals)) continue;
        for (int block = Math.max(job.from(), object.first()); block < Math.min(job.to(), object.end()); block++)
          pages.add(new GroupStaging.Page(slots[i], block - object.first(), block));
      }
      scatter(job, pages, arrivals, ring);
    } finally {
      ring.giveBack(slots);
    }
  }

  private static void scatter(LoadJob job, List<GroupStaging.Page> pages, Arrivals arrivals, GroupStaging ring) {
    String[] refusals = ring.scatter(pages, job.blocks());
    for (int i = 0; i < refusals.length; i++) {
      int block = pages.get(i).block();
      if (refusals[i].isEmpty()) arrivals.arrived(block);
      else
        arrivals.fail("block " + block + ": " + refusals[i]);
    }
  }

  /** Counts an outcome. {@return whether the object arrived whole} */
  private boolean count(StoreBatch batch, int index, int blocks, long bytesWanted, Arrivals arrivals) {
    StoreCode code = batch.code(index);
    if (batch.isHit(index) && batch.bytes(index) == bytesWanted) {
      counts.add("blocks_hit", blocks);
      counts.add("bytes_loaded", bytesWanted);
      return true;
    }
    counts.add(switch (code) {
      case OK -> "blocks_of_other_size";
      case OBJECT_NOT_FOUND -> "blocks_missed";
      case LEASE_EXPIRED -> "blocks_lease_expired";
      case PAGE_REJECTED -> "blocks_rejected";
      default -> "blocks_load_failed";
    }, blocks);
    arrivals.fail(code == StoreCode.OK
        ? batch.key(index) + " has " + batch.bytes(index) + " bytes, not " + bytesWanted
        : batch.key(index) + ": " + code);
    return false;
  }

  /** What has arrived of a load. */
  private static final class Arrivals {
    private final LoadJob job;
    private final BitSet there = new BitSet();
    private String reason = "";

    Arrivals(LoadJob job) {
      this.job = job;
    }

    void arrived(int block) {
      there.set(block);
    }

    /** The first reason counts. */
    void fail(String why) {
      if (reason.isEmpty()) reason = why;
    }

    Load report() {
      List<Integer> missing = IntStream.range(job.from(), job.to()).filter(block -> !there.get(block)).boxed().toList();
      return new Load(StoreConnector.NAME, job.request(), job.number(), missing, missing.isEmpty() ? "" : reason);
    }
  }
}
