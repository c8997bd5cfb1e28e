package dev.gatun.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The off-heap argument columns of a batch. Each entry owns a slot for its key: room for the longest prefix, the logical
 * key, a NUL. The prefix stands right-aligned before the logical key and is already there when a key is added, so adding
 * is one copy; a new epoch rewrites the prefixes and leaves the logical keys where they are. The other columns are
 * collected on the heap and cross in one copy each, which costs less than setting them one by one.
 */
final class BatchColumns {
  // 64: a hex SHA-256, the longest page key of the engines in use; longer keys make the slots grow once
  private static final int KEY_BYTES_DEFAULT = 64;
  private static final int SLOT_ALIGN_BYTES = 16;

  private final MemorySegment keyPointers;
  private final MemorySegment pages;
  private final MemorySegment sizes;
  private final MemorySegment results;
  private final MemorySegment zeros;
  private final int[] codes;

  private final Arena arena;
  private final int capacity;
  private final int prefixRoom;
  private byte[] prefix = new byte[0];
  private int keyRoom;
  private long slotBytes;
  private MemorySegment slots;

  BatchColumns(Arena arena, int capacity, int prefixBytesMax) {
    this.arena = arena;
    this.capacity = capacity;
    prefixRoom = prefixBytesMax;
    keyPointers = arena.allocate(ValueLayout.JAVA_LONG, capacity);
    pages = arena.allocate(ValueLayout.JAVA_LONG, capacity);
    sizes = arena.allocate(ValueLayout.JAVA_LONG, capacity);
    results = arena.allocate(ValueLayout.JAVA_LONG, capacity);
    zeros = arena.allocate(ValueLayout.JAVA_INT, capacity);
    codes = new int[capacity];
    keyRoom = KEY_BYTES_DEFAULT + 1;
    slotBytes = slotBytes(keyRoom);
    slots = arena.allocate(slotBytes * capacity, SLOT_ALIGN_BYTES);
    prefix(prefix);
  }

  /** Puts another prefix before every key, present and future. */
  void prefix(byte[] next) {
    prefix = next;
    long first = slots.address() + prefixRoom - next.length;
    for (int i = 0; i < capacity; i++) {
      long slot = slotBytes * i;
      MemorySegment.copy(next, 0, slots, ValueLayout.JAVA_BYTE, slot + prefixRoom - next.length, next.length);
      keyPointers.setAtIndex(ValueLayout.JAVA_LONG, i, first + slot);
    }
  }

  void key(int index, byte[] terminated) {
    if (terminated.length > keyRoom) grow(terminated.length);
    MemorySegment.copy(terminated, 0, slots, ValueLayout.JAVA_BYTE, slotBytes * index + prefixRoom, terminated.length);
  }

  void sizes(long[] objectBytes, int count) {
    MemorySegment.copy(objectBytes, 0, sizes, ValueLayout.JAVA_LONG, 0, count);
  }

  void pages(long[] addresses, int count) {
    MemorySegment.copy(addresses, 0, pages, ValueLayout.JAVA_LONG, 0, count);
  }

  /** {@return the key column from an entry on; like the next two, without allocating, the column itself from entry 0} */
  MemorySegment keyPointers(int from) {
    return from(keyPointers, from);
  }

  MemorySegment pages(int from) {
    return from(pages, from);
  }

  MemorySegment sizes(int from) {
    return from(sizes, from);
  }

  /** {@return where a native call writes its answers, those of its own first entry first} */
  MemorySegment results() {
    return results;
  }

  /** Copies the answers of a get, 8 bytes each, to where its entries are. */
  void lengthsInto(long[] outcomes, int from, int count) {
    MemorySegment.copy(results, ValueLayout.JAVA_LONG, 0, outcomes, from, count);
  }

  /** {@return whether the answers of a put are all 0, which is the usual case} */
  boolean allZero(int count) {
    return MemorySegment.mismatch(results, 0, (long) count * Integer.BYTES, zeros, 0, (long) count * Integer.BYTES) < 0;
  }

  /** {@return the answers of a put or an existence query, 4 bytes each; overwritten by the next call} */
  int[] codes(int count) {
    MemorySegment.copy(results, ValueLayout.JAVA_INT, 0, codes, 0, count);
    return codes;
  }

  /** {@return bytes of native memory, for the bound that tests hold} */
  long nativeBytes() {
    return (4L * Long.BYTES + Integer.BYTES) * capacity + slots.byteSize();
  }

  private static MemorySegment from(MemorySegment column, int index) {
    return index == 0 ? column : column.asSlice((long) index * Long.BYTES);
  }

  private void grow(int needed) {
    int room = Math.min(Math.max(needed, 2 * keyRoom), KvKey.BYTES_MAX + 1);
    long bytes = slotBytes(room);
    MemorySegment larger = arena.allocate(bytes * capacity, SLOT_ALIGN_BYTES);
    for (int i = 0; i < capacity; i++) {
      MemorySegment.copy(slots, slotBytes * i + prefixRoom, larger, bytes * i + prefixRoom, keyRoom);
    }
    keyRoom = room;
    slotBytes = bytes;
    slots = larger;
    prefix(prefix);
  }

  private long slotBytes(int room) {
    return Math.ceilDiv(prefixRoom + room, SLOT_ALIGN_BYTES) * (long) SLOT_ALIGN_BYTES;
  }
}
