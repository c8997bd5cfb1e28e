package dev.gatun.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What can be checked of memory that others own. */
final class ForeignMemory {
  private ForeignMemory() {}

  static void requireNativeAccess(Class<?> caller, String method) {
    Module module = caller.getModule();
    if (module.isNativeAccessEnabled()) return;
    throw new IllegalCallerException(method + " is restricted; allow it with --enable-native-access="
        + (module.isNamed() ? module.getName() : "ALL-UNNAMED"));
  }

  static MemorySegment checked(String field, MemorySegment memory) {
    if (!memory.isNative()) throw new IllegalArgumentException(field + " must be off-heap: " + memory);
    if (memory.byteSize() == 0) throw new IllegalArgumentException(field + " must not be empty: " + memory);
    if (memory.isReadOnly()) throw new IllegalArgumentException(field + " must be writable: " + memory);
    if (!memory.scope().isAlive()) throw new IllegalArgumentException(field + " must be of an open arena: " + memory);
    if (!memory.isAccessibleBy(new Thread())) {
      throw new IllegalArgumentException(field + " must be of an arena that all threads may use, not a confined one");
    }
    return memory;
  }

  /** Joins views that overlap; those that only touch stay apart. */
  static List<MemorySegment> merged(List<MemorySegment> views) {
    List<MemorySegment> sorted = new ArrayList<>();
    for (int i = 0; i < views.size(); i++)
      sorted.add(checked("views[" + i + ']', views.get(i)));
    sorted.sort(Comparator.comparingLong(MemorySegment::address));
    List<MemorySegment> regions = new ArrayList<>();
    for (MemorySegment view : sorted) {
      MemorySegment last = regions.isEmpty() ? null : regions.getLast();
      if (last == null || view.address() >= end(last)) {
        regions.add(view);
      } else if (!view.scope().equals(last.scope())) {
        throw new IllegalArgumentException("views that overlap must come from one arena: " + last + " and " + view);
      } else {
        regions.set(regions.size() - 1, last.reinterpret(Math.max(end(last), end(view)) - last.address()));
      }
    }
    return regions;
  }

  private static long end(MemorySegment segment) {
    return segment.address() + segment.byteSize();
  }
}
