package dev.gatun.device;

import java.util.ArrayList;
import java.util.List;

/** A paged cache of another process of this host, opened by what that process shares. Usable by any thread. */
public final class AttachedCache implements AutoCloseable {
  private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  private final List<PeerSlab> slabs;
  private final PagedCache cache;

  private AttachedCache(List<PeerSlab> slabs, PagedCache cache) {
    this.slabs = slabs;
    this.cache = cache;
  }

  /**
   * Opens a cache. Restricted, as {@link Device#attach} is, which see.
   *
   * @param gpu on which kernels and copies will reach it
   * @param name for messages
   * @param share from {@link SharedCache#share()} of a living process
   * @return the cache; the caller closes it
   * @throws IllegalCallerException if the caller's module has no native access
   * @throws IllegalArgumentException if this process shares it, its sizes contradict each other, or a slab goes beyond
   *     the allocation that the driver opens for it
   * @throws DeviceException if the driver refuses: the process is gone, or its GPU is out of this one's reach
   */
  public static AttachedCache attach(Device gpu, String name, CacheShare share) {
    RestrictedCall.require(CALLER.getCallerClass(), "AttachedCache.attach");
    List<PeerSlab> slabs = new ArrayList<>();
    try {
      for (SlabShare slab : share.slabs())
        slabs.add(gpu.attach(name + ' ' + slabs.size(), slab));
      return new AttachedCache(slabs, share.over(slabs));
    } catch (RuntimeException | Error e) {
      slabs.forEach(PeerSlab::close);
      throw e;
    }
  }

  /** {@return it as a target of {@link PagePush}} */
  public PagedCache cache() {
    return cache;
  }

  /** Closes the memory, once the GPU has done what it was queued to do with it. Blocks. Idempotent. */
  @Override
  public void close() {
    slabs.forEach(PeerSlab::close);
  }
}
