package dev.gatun.connector;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What the scheduler side knows about a request in flight. Guarded by its owner. */
final class TrackedRequest {
  private final PageGroups groups;
  private final Set<Long> jobs = new HashSet<>();
  /** What the last lookup found, null once it is used. */
  @Nullable
  PrefixCover cover;
  /** The lookup that is under way. */
  @Nullable
  CompletableFuture<PrefixCover> asked;
  /** From which block on that lookup looks. */
  int askedFrom;
  /** Number of the load that was planned and not reported. */
  @Nullable
  Long load;
  /** Whether no block is saved any more: an earlier one failed, so those behind it could not be found. */
  boolean saveStopped;
  /** Whether the host has ended the request and waits for its blocks. */
  boolean ended;
  /** Leading groups that are stored or about to be. */
  private int storedGroups;
  /** Leading blocks that are stored or about to be, in groups or not. */
  private int storedBlocks;

  TrackedRequest(PageGroups groups) {
    this.groups = groups;
  }

  /** The store has these leading blocks, in whatever form: they need not be saved again. */
  void stored(int blocks) {
    storedBlocks = Math.max(storedBlocks, blocks);
    storedGroups = Math.max(storedGroups, groups.groups(blocks));
  }

  /** The store does not have this block after all. */
  void missing(int block) {
    storedBlocks = Math.min(storedBlocks, block);
    storedGroups = Math.min(storedGroups, groups.groups(block));
  }

  /** Takes what can be saved now: full groups; single pages only if there are no groups or the request has ended. */
  List<PageObject> take(KvRequest request, int computedBlocks, boolean tail) {
    List<PageObject> objects = new ArrayList<>();
    while (storedGroups < groups.groups(computedBlocks)) {
      objects.add(groups.group(request.keys(), storedGroups));
      storedGroups++;
      storedBlocks = Math.max(storedBlocks, storedGroups * groups.size());
    }
    if ((tail || groups.size() == 1) && storedBlocks < computedBlocks) {
      objects.addAll(PageGroups.singles(request.keys(), storedBlocks, computedBlocks));
      storedBlocks = computedBlocks;
    }
    return objects;
  }

  void saving(long job) {
    jobs.add(job);
  }

  /** {@return whether the save was one of this request, and not reported before} */
  boolean saved(long job) {
    return jobs.remove(job);
  }

  boolean loading() {
    return load != null;
  }

  /** {@return whether no transfer uses its blocks} */
  boolean idle() {
    return jobs.isEmpty() && load == null;
  }
}
