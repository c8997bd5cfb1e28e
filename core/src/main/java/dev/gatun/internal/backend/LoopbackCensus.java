package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.bindings.mooncake.LoopbackC;
import dev.gatun.bindings.mooncake.gatun_loopback_census;
import dev.gatun.internal.ffm.CStrings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The census of a pool of the embedded library: function calls, no I/O. */
final class LoopbackCensus implements StoreCensus {
  // holds the longest key, 1,024 bytes and NUL, many times over; grown when a foreign client's key is longer
  private static final long LIST_BYTES = 65_536;
  private static final long CURSOR_END = -1L;
  private static final long BUFFER_TOO_SHORT = StoreCode.BUFFER_OVERFLOW.raw();

  private final String pool;

  LoopbackCensus(String pool) {
    this.pool = pool;
  }

  @Override
  public Reading read(Deadline deadline) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment out = gatun_loopback_census.allocate(call);
      require("census", LoopbackC.gatun_loopback_census(CStrings.encode(call, "pool", pool), out));
      return new Reading(gatun_loopback_census.key_count(out), gatun_loopback_census.put_starts(out),
          gatun_loopback_census.put_ends(out), gatun_loopback_census.put_revokes(out),
          gatun_loopback_census.role(out) == LoopbackC.GATUN_LOOPBACK_ROLE_LEADER() ? "leader" : "unknown",
          Long.toUnsignedString(gatun_loopback_census.start_id(out)));
    }
  }

  @Override
  public List<String> keys(int limit, Deadline deadline) {
    if (limit < 0) throw new IllegalArgumentException("limit must be 0 or more: " + limit);
    List<String> keys = new ArrayList<>();
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment name = CStrings.encode(call, "pool", pool);
      MemorySegment cursor = call.allocateFrom(ValueLayout.JAVA_LONG, 0L);
      MemorySegment buffer = call.allocate(LIST_BYTES);
      while (keys.size() < limit && cursor.get(ValueLayout.JAVA_LONG, 0) != CURSOR_END) {
        if (deadline.reached()) throw new DeadlineException("listing keys of " + pool + ": " + keys.size() + " so far");
        long written = LoopbackC.gatun_loopback_list_keys(name, cursor, buffer, buffer.byteSize());
        if (written == BUFFER_TOO_SHORT) {
          buffer = call.allocate(buffer.byteSize() * 2);
          continue;
        }
        require("keys", written);
        long at = 0;
        for (long i = 0; i < written && keys.size() < limit; i++) {
          String key = buffer.getString(at);
          keys.add(key);
          at += length(buffer, at) + 1;
        }
      }
    }
    return keys;
  }

  /** Told where there is one segment only: the pool knows its sum. */
  @Override
  public OptionalLong largestSegmentBytes(Deadline deadline) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment out = gatun_loopback_census.allocate(call);
      require("census", LoopbackC.gatun_loopback_census(CStrings.encode(call, "pool", pool), out));
      return gatun_loopback_census.segment_count(out) == 1
          ? OptionalLong.of(gatun_loopback_census.capacity_bytes(out))
          : OptionalLong.empty();
    }
  }

  @Override
  public String source() {
    return pool;
  }

  /** Length in bytes: a key that is not UTF-8 decodes to a string that no longer tells it. */
  private static long length(MemorySegment buffer, long from) {
    long at = from;
    while (buffer.get(ValueLayout.JAVA_BYTE, at) != 0)
      at++;
    return at - from;
  }

  private void require(String operation, long code) {
    if (code < 0) throw new StoreException(operation, code, pool);
  }
}
