package dev.gatun.memory;

/** Which page size a slab asks of the operating system. */
public enum HugePages {
  /** Ordinary pages. */
  NONE(0, 0),
  /** Ordinary pages that the kernel is advised to merge; whether it does is its choice. */
  TRANSPARENT(0, 0),
  /** Reserved pages of 2 MiB; refused if too few are reserved. */
  RESERVED_2M(1L << 21, 21),
  /** Reserved pages of 1 GiB; refused if too few are reserved. */
  RESERVED_1G(1L << 30, 30);

  private static final int MAP_HUGETLB = 0x40000;
  private static final int MAP_HUGE_SHIFT = 26;

  private final long bytes;
  private final int log2;

  HugePages(long bytes, int log2) {
    this.bytes = bytes;
    this.log2 = log2;
  }

  /** {@return the page size in bytes, 0 where it is the system's ordinary one} */
  long bytes() {
    return bytes;
  }

  int mapFlags() {
    return bytes == 0 ? 0 : MAP_HUGETLB | log2 << MAP_HUGE_SHIFT;
  }
}
