package dev.gatun.cli.replay;

import dev.gatun.backend.StoreOptions;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.Verify;
import org.jspecify.annotations.Nullable;

/**
 * What a replay is to do, as the command line says.
 *
 * @param trace where the requests come from
 * @param mooncake whether the store is a real Mooncake, else the embedded one
 * @param pageBytes bytes a page, {@link PageContent#BYTES_MIN} or more
 * @param replicas inference hosts side by side, 1 to {@value #REPLICAS_MAX}
 * @param speed how fast trace time passes
 * @param refitEveryMillis trace time between refits, 0 for none
 * @param epochInKey whether keys carry the weight version
 * @param verify what is stored beside a page
 * @param capacityBytes memory of the store, null for enough
 * @param proof whether refits prove their removals
 * @param fault what breaks the refits
 * @param device where pages are made and checked; on a device their bytes must be a multiple of 8
 */
public record ReplayOptions(TraceSource trace, boolean mooncake, long pageBytes, int replicas, Speed speed,
    long refitEveryMillis, boolean epochInKey, Verify verify, @Nullable Long capacityBytes, boolean proof,
    Fault fault, ReplayDevice device) {
  /** Most replicas; each takes a thread, or a process of about 200 MB. */
  public static final int REPLICAS_MAX = 64;
  private static final String NAMESPACE = "gatun-replay";
  // 1 GiB: beyond any KV block, and far below the largest object of a store
  private static final long PAGE_BYTES_MAX = 1L << 30;
  // A batch moves at most 128 pages, the most the benchmarks measure, and at most 256 MiB of them.
  private static final int BATCH_PAGES_MAX = 128;
  private static final long BATCH_BYTES_MAX = 256L << 20;

  /** Refuses values out of range, naming the option. */
  public ReplayOptions {
    if (pageBytes < PageContent.BYTES_MIN || pageBytes > PAGE_BYTES_MAX) {
      throw new IllegalArgumentException("--page-bytes must be " + PageContent.BYTES_MIN + " to " + PAGE_BYTES_MAX
          + ": " + pageBytes);
    }
    if (device != ReplayDevice.NONE && pageBytes % Long.BYTES != 0) {
      throw new IllegalArgumentException("with --device, --page-bytes must be a multiple of 8: " + pageBytes);
    }
    if (replicas < 1 || replicas > REPLICAS_MAX) {
      throw new IllegalArgumentException("--replicas must be 1 to " + REPLICAS_MAX + ": " + replicas);
    }
    if (refitEveryMillis < 0) {
      throw new IllegalArgumentException("--refit-every must be 0 (none) or more: " + refitEveryMillis);
    }
  }

  /** {@return {@code mooncake} or {@code loopback}} */
  String storeName() {
    return mooncake ? "mooncake" : "loopback";
  }

  /** {@return the store's memory: what was asked for, or enough} */
  CapacityPlan capacity(IdealCache ideal) {
    // what each refit puts beside the pages is a few bytes, and the stamp is part of a page
    long storedBytes = pageBytes + codec().headerBytes();
    return capacityBytes == null
        ? CapacityPlan.forAll(ideal.peakPages(), storedBytes, replicas)
        : CapacityPlan.given(capacityBytes, ideal.peakPages(), storedBytes, replicas);
  }

  /** {@return how pages are named and stamped} */
  KeyCodec codec() {
    return new KeyCodec(NAMESPACE, epochInKey, verify);
  }

  /** {@return what one replica does} */
  ReplicaSettings settings(int index, StoreOptions store) {
    return new ReplicaSettings(index, replicas, trace, speed, refitEveryMillis, pageBytes, batchPages(), codec(), proof,
        fault, device, store);
  }

  /** {@return most pages in one call} */
  int batchPages() {
    return Math.clamp(BATCH_BYTES_MAX / pageBytes, 1, BATCH_PAGES_MAX);
  }
}
