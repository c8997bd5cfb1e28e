package dev.gatun.device;

import java.util.ArrayList;
import java.util.List;

/** A paged cache whose memory other processes may reach by its {@link #share()}. Usable by any thread. */
public final class SharedCache implements AutoCloseable {
  private final List<SharedSlab> slabs;
  private final CacheShare share;

  private SharedCache(List<SharedSlab> slabs, CacheShare share) {
    this.slabs = slabs;
    this.share = share;
  }

  /**
   * Shares the memory of a cache, each allocation as a whole; see {@link Device#share}.
   *
   * @param cache in memory of {@link DeviceSlab}s, which do not close before the result does
   * @return the shared cache; the caller closes it when nobody uses the share any more
   * @throws IllegalArgumentException if some of its memory is another process's, or goes beyond one allocation
   * @throws DeviceException if the driver refuses to share memory of that kind
   */
  public static SharedCache share(PagedCache cache) {
    List<SharedSlab> slabs = new ArrayList<>();
    try {
      for (DeviceMemory memory : cache.memory()) {
        if (!(memory instanceof DeviceSlab slab)) {
          throw new IllegalArgumentException("cache must be of memory of this process: " + memory);
        }
        slabs.add(slab.device().share(slab));
      }
      return new SharedCache(List.copyOf(slabs), CacheShare.of(cache, slabs));
    } catch (RuntimeException | Error e) {
      slabs.forEach(SharedSlab::close);
      throw e;
    }
  }

  /** {@return what another process gives to {@link AttachedCache#attach}} */
  public CacheShare share() {
    return share;
  }

  /** Ends the share; the memory stays. To be called once every process that was given it has closed it or is dead. */
  @Override
  public void close() {
    slabs.forEach(SharedSlab::close);
  }
}
