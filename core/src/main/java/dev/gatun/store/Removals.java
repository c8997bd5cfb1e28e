package dev.gatun.store;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Removal by key, by prefix, by pattern, of everything. */
final class Removals {
  private final StoreCore core;

  Removals(StoreCore core) {
    this.core = core;
  }

  RemoveResult remove(KvKey key, boolean force) {
    return core.activities.run("remove", 1, activity -> {
      int ticket = core.enter("remove", 1);
      try (Arena call = Arena.ofConfined()) { // per call
        MemorySegment encoded = core.encode(key, core.gate.epoch(ticket), call);
        long started = System.nanoTime();
        int code = core.backend.remove(encoded, force);
        RemoveResult result = result(code);
        core.observer.onRemove(code == 0 ? 1 : 0, !result.gone(), System.nanoTime() - started);
        return result;
      } finally {
        core.gate.exit(ticket);
      }
    });
  }

  RemoveSummary remove(List<KvKey> keys, boolean force) {
    int removed = 0;
    int absent = 0;
    Map<KvKey, RemoveResult.RemoveFailed> failed = new LinkedHashMap<>();
    for (KvKey key : keys) {
      switch (remove(key, force)) {
        case RemoveResult.Removed ignored -> removed++;
        case RemoveResult.Absent ignored -> absent++;
        case RemoveResult.RemoveFailed why -> failed.put(key, why);
      }
    }
    return new RemoveSummary(removed, absent, failed);
  }

  long removePrefix(String prefix, boolean force) {
    return matching("removePrefix", prefix, force, () -> KeyPattern.prefix(codecPrefix(), prefix));
  }

  long removeMatching(String pattern, boolean force) {
    if (!core.policy.patterns()) {
      throw new IllegalStateException(
          "removeMatching is off: some masters crash on patterns; see StorePolicy.patterns");
    }
    return matching("removeMatching", pattern, force, () -> KeyPattern.restricted(codecPrefix(), pattern));
  }

  long removeAll(boolean force) {
    return core.activities.run("removeAll", 0, activity -> {
      int ticket = core.enter("removeAll", 0);
      try {
        long removed = counted("removeAll", "force=" + force, () -> core.backend.removeAll(force));
        core.failedKeys.clear();
        return removed;
      } finally {
        core.gate.exit(ticket);
      }
    });
  }

  private interface Pattern {
    byte[] bytes();
  }

  private long matching(String operation, String subject, boolean force, Pattern pattern) {
    return core.activities.run(operation, 0, activity -> {
      int ticket = core.enter(operation, 0);
      try (Arena call = Arena.ofConfined()) { // per call
        byte[] bytes = pattern.bytes();
        MemorySegment terminated = call.allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, terminated, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return counted(operation, subject, () -> core.backend.removeMatching(terminated, force));
      } finally {
        core.gate.exit(ticket);
      }
    });
  }

  private long counted(String operation, String subject, LongSupplier call) {
    long started = System.nanoTime();
    long removed = call.getAsLong();
    core.observer.onRemove(Math.max(0, removed), removed < 0, System.nanoTime() - started);
    if (removed < 0) throw new StoreException(operation, removed, subject);
    return removed;
  }

  private byte[] codecPrefix() {
    return core.codec.prefix(core.gate.epoch());
  }

  private static RemoveResult result(int code) {
    if (code == 0) return new RemoveResult.Removed();
    if (code == StoreCode.OBJECT_NOT_FOUND.raw()) return new RemoveResult.Absent();
    return new RemoveResult.RemoveFailed(code > 0 ? StoreCode.UNKNOWN : StoreCode.of(code), code);
  }
}
