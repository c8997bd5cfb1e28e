package dev.gatun.memory;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One anonymous mapping with the pages and node that were asked for.
 *
 * @param address where it starts, a multiple of the page size
 * @param bytes its size, whole pages
 * @param location what was obtained, in words
 */
record SlabMapping(long address, long bytes, String location) {

  static long roundedBytes(SlabOptions options) {
    long page = options.hugePages().bytes() == 0 ? MemoryCalls.get().pageBytes() : options.hugePages().bytes();
    if (options.bytes() > Long.MAX_VALUE - page) {
      throw new IllegalArgumentException(
          "bytes must leave room to round up to pages of " + page + ": " + options.bytes());
    }
    return Math.ceilDiv(options.bytes(), page) * page;
  }

  static SlabMapping create(SlabOptions options) {
    long bytes = roundedBytes(options);
    long address = MemoryCalls.get().map(bytes, MemoryCalls.PROT_READ_WRITE, options.hugePages().mapFlags());
    if (address < 0) throw refusedPages(options, bytes, (int) -address);
    try {
      StringBuilder location = new StringBuilder("host, pages ");
      location.append(describePages(options, address, bytes));
      if (options.numaNode() != SlabOptions.ANY_NODE) {
        bind(options, address, bytes);
        location.append(", node ").append(options.numaNode());
      }
      if (options.prefault()) {
        prefault(options, address, bytes);
        location.append(", prefaulted");
      }
      return new SlabMapping(address, bytes, location.toString());
    } catch (RuntimeException e) {
      MemoryCalls.get().unmap(address, bytes);
      throw e;
    }
  }

  void unmap() {
    long result = MemoryCalls.get().unmap(address, bytes);
    if (result < 0) throw new SlabException("munmap of " + bytes + " bytes failed: errno " + -result);
  }

  private static String describePages(SlabOptions options, long address, long bytes) {
    long page = MemoryCalls.get().pageBytes();
    return switch (options.hugePages()) {
      case NONE -> page + " B";
      case TRANSPARENT -> {
        long result = MemoryCalls.get().advise(address, bytes, MemoryCalls.MADV_HUGEPAGE);
        yield page + " B, merging "
            + (result < 0
                ? "not available (errno " + -result + ')'
                : "advised, kernel setting: "
                    + firstLine("/sys/kernel/mm/transparent_hugepage/enabled"));
      }
      case RESERVED_2M -> "2 MiB, reserved";
      case RESERVED_1G -> "1 GiB, reserved";
    };
  }

  private static SlabException refusedPages(SlabOptions options, long bytes, int errno) {
    if (options.hugePages().bytes() == 0) {
      return new SlabException("slab " + options.name() + ": the system refused " + bytes + " bytes (errno " + errno
          + "); limits: ulimit -v, vm.overcommit_memory, memory of the machine");
    }
    long kib = options.hugePages().bytes() / 1024;
    String folder = "/sys/kernel/mm/hugepages/hugepages-" + kib + "kB/";
    return new SlabException("slab " + options.name() + ": " + bytes / options.hugePages().bytes()
        + " huge pages of " + kib + " KiB asked, free: " + firstLine(folder + "free_hugepages") + " (errno " + errno
        + "); reserve them as root: echo N > " + folder + "nr_hugepages, or use TRANSPARENT");
  }

  private static void bind(SlabOptions options, long address, long bytes) {
    long result = MemoryCalls.get().bindToNode(address, bytes, options.numaNode());
    if (result == 0) return;
    String reason = switch ((int) -result) {
      case MemoryCalls.ENOSYS -> "this kernel is built without NUMA";
      case MemoryCalls.EPERM -> "the container forbids mbind; allow it (CAP_SYS_NICE) or use any node";
      case MemoryCalls.EINVAL -> "no such node, or not allowed here; nodes online: "
          + firstLine("/sys/devices/system/node/online");
      default -> "errno " + -result;
    };
    throw new SlabException("slab " + options.name() + ": numaNode " + options.numaNode() + " refused: " + reason);
  }

  private static void prefault(SlabOptions options, long address, long bytes) {
    long result = MemoryCalls.get().advise(address, bytes, MemoryCalls.MADV_POPULATE_WRITE);
    if (result == -MemoryCalls.EINVAL) { // kernel before 5.14
      MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(bytes);
      for (long at = 0; at < bytes; at += MemoryCalls.get().pageBytes())
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
      return;
    }
    if (result < 0) {
      throw new SlabException(
          "slab " + options.name() + ": could not touch all of " + bytes + " bytes (errno " + -result
              + "); the machine, the node or the container has less memory free");
    }
  }

  private static String firstLine(String file) {
    try {
      return Files.readString(Path.of(file)).lines().findFirst().orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }
}
