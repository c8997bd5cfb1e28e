package dev.gatun.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The off-heap argument columns of a batch. Each entry owns a slot for its key: room for the longest prefix, the logical
 * key, a NUL. The prefix stands right-aligned before the logical key and is already there when a key is added, so adding
 * is one copy; a new epoch rewrites the prefixes and leaves the logical keys where they are.
 */
final class BatchColumns {
  // 64: a hex SHA-256, the longest page key of the engines in use; longer keys make the slots grow once
  private static final int KEY_BYTES_DEFAULT = 64;
  private static final int SLOT_ALIGN_BYTES = 16;

  final MemorySegment keyPointers;
  final MemorySegment pages;
  final MemorySegment sizes;
  final MemorySegment results;

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
    if (terminated.length > keyRoom) grow(terminated.length, index);
    MemorySegment.copy(terminated, 0, slots, ValueLayout.JAVA_BYTE, slotBytes * index + prefixRoom, terminated.length);
  }

  void size(int index, long bytes) {
    sizes.setAtIndex(ValueLayout.JAVA_LONG, index, bytes);
  }

  long size(int index) {
    return sizes.getAtIndex(ValueLayout.JAVA_LONG, index);
  }

  void page(int index, long address) {
    pages.setAtIndex(ValueLayout.JAVA_LONG, index, address);
  }

  /** {@return an answer of a put or an existence query, counted from the start of the native call} */
  int code(int index) {
    return results.getAtIndex(ValueLayout.JAVA_INT, index);
  }

  /** {@return an answer of a get, counted from the start of the native call} */
  long length(int index) {
    return results.getAtIndex(ValueLayout.JAVA_LONG, index);
  }

  /** {@return the column from an entry on; the column itself, without allocating, from entry 0} */
  static MemorySegment from(MemorySegment column, int index) {
    return index == 0 ? column : column.asSlice((long) index * Long.BYTES);
  }

  /** {@return bytes of native memory, for the bound that tests hold} */
  long nativeBytes() {
    return 4L * Long.BYTES * capacity + slots.byteSize();
  }

  private void grow(int needed, int used) {
    int room = Math.min(Math.max(needed, 2 * keyRoom), KvKey.BYTES_MAX + 1);
    long bytes = slotBytes(room);
    MemorySegment larger = arena.allocate(bytes * capacity, SLOT_ALIGN_BYTES);
    for (int i = 0; i < used; i++) {
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
