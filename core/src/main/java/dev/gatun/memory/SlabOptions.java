package dev.gatun.memory;

/**
 * What kind of host memory a slab is.
 *
 * @param name for reports and messages, not blank
 * @param bytes size, above 0; rounded up to whole pages
 * @param hugePages which pages to ask for
 * @param numaNode NUMA node to bind to, 0 or more, or {@link #ANY_NODE}
 * @param prefault touch every page now, so that the first transfers do not pay for it
 * @param budget the cap that the slab counts against
 */
public record SlabOptions(String name, long bytes, HugePages hugePages, int numaNode, boolean prefault,
    MemoryBudget budget) {
  /** No NUMA binding. */
  public static final int ANY_NODE = -1;
  /** Highest NUMA node number that can be asked for. */
  public static final int NODE_MAX = 1023;

  /** Refuses a blank name, sizes that are not positive and impossible nodes. */
  public SlabOptions {
    if (name.isBlank()) throw new IllegalArgumentException("name must not be blank: \"" + name + '"');
    if (bytes <= 0) throw new IllegalArgumentException("bytes must be positive: " + bytes);
    if (numaNode < ANY_NODE || numaNode > NODE_MAX) {
      throw new IllegalArgumentException("numaNode must be 0 to " + NODE_MAX + ", or -1 for any: " + numaNode);
    }
  }

  /**
   * {@return ordinary pages on any node, untouched, counted against the process's budget}
   *
   * @param name for reports
   * @param bytes size
   */
  public static SlabOptions of(String name, long bytes) {
    return new SlabOptions(name, bytes, HugePages.NONE, ANY_NODE, false, MemoryBudget.process());
  }

  /**
   * {@return these options with other pages}
   *
   * @param pages which pages to ask for
   */
  public SlabOptions withHugePages(HugePages pages) {
    return new SlabOptions(name, bytes, pages, numaNode, prefault, budget);
  }

  /**
   * {@return these options bound to a NUMA node}
   *
   * @param node 0 or more
   */
  public SlabOptions onNode(int node) {
    return new SlabOptions(name, bytes, hugePages, node, prefault, budget);
  }

  /** {@return these options with every page touched at allocation} */
  public SlabOptions prefaulted() {
    return new SlabOptions(name, bytes, hugePages, numaNode, true, budget);
  }

  /**
   * {@return these options counted against another cap}
   *
   * @param cap the budget
   */
  public SlabOptions within(MemoryBudget cap) {
    return new SlabOptions(name, bytes, hugePages, numaNode, prefault, cap);
  }
}
