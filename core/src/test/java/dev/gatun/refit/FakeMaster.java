package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A scripted master, for orders of events that no library produces on demand. It is the reference model as well: it
 * knows with which weights each object was made. Points of its script: {@code read} and {@code keys} of the census.
 */
final class FakeMaster implements StoreCensus {
  private record Entry(WeightEpoch epoch, boolean complete) {}

  final Script script = new Script();
  private final String name;
  private final Map<String, Entry> objects = new LinkedHashMap<>();
  private long starts;
  private long ends;
  private long keyCountError;
  private long startsShown = Long.MAX_VALUE;
  private String startId = "start-1";
  private String role = "leader";
  private boolean space = true;
  private boolean down;
  private List<String> uncounted = List.of();

  FakeMaster(String name) {
    this.name = name;
  }

  synchronized int putStart(String key, WeightEpoch epoch) {
    if (down) return StoreCode.RPC_FAIL.raw();
    starts++;
    if (!space) return StoreCode.NO_AVAILABLE_HANDLE.raw();
    objects.putIfAbsent(key, new Entry(epoch, false));
    return 0;
  }

  synchronized void putEnd(String key) {
    ends++;
    objects.computeIfPresent(key, (name, entry) -> new Entry(entry.epoch(), true));
  }

  int put(String key, WeightEpoch epoch) {
    int code = putStart(key, epoch);
    if (code == 0) putEnd(key);
    return code;
  }

  /** Removes what is complete, as the real one does. */
  synchronized long removeAll() {
    if (down) return StoreCode.RPC_FAIL.raw();
    long before = objects.size();
    objects.values().removeIf(Entry::complete);
    return before - objects.size();
  }

  /** The same, among the keys that start so. */
  synchronized long removePrefix(String prefix) {
    if (down) return StoreCode.RPC_FAIL.raw();
    long before = objects.size();
    objects.entrySet().removeIf(entry -> entry.getKey().startsWith(prefix) && entry.getValue().complete());
    return before - objects.size();
  }

  synchronized long size(String key) {
    if (down) return StoreCode.RPC_FAIL.raw();
    Entry entry = objects.get(key);
    if (entry == null) return StoreCode.OBJECT_NOT_FOUND.raw();
    return entry.complete() ? 8 : StoreCode.REPLICA_IS_NOT_READY.raw();
  }

  synchronized void lose(String prefix) {
    objects.keySet().removeIf(key -> key.startsWith(prefix));
  }

  synchronized void space(boolean value) {
    space = value;
  }

  synchronized void down(boolean value) {
    down = value;
  }

  synchronized void restart(String id) {
    objects.clear();
    starts = 0;
    ends = 0;
    startId = id;
  }

  synchronized void role(String value) {
    role = value;
  }

  /** The gauge is off by this much from now on. */
  synchronized void keyCountError(long value) {
    keyCountError = value;
  }

  /** Whether any object of an epoch other than this one exists or may still appear. */
  synchronized boolean holdsOther(WeightEpoch epoch) {
    return objects.values().stream().anyMatch(entry -> !entry.epoch().equals(epoch));
  }

  /** The same, among the keys that start so. */
  synchronized boolean holdsOtherUnder(String prefix, WeightEpoch epoch) {
    return objects.entrySet().stream().anyMatch(entry -> entry.getKey().startsWith(prefix)
        && !entry.getValue().epoch().equals(epoch));
  }

  synchronized int count() {
    return objects.size();
  }

  @Override
  public Reading read(Deadline deadline) {
    OptionalLong scripted = script.hit("read");
    synchronized (this) {
      if (down || scripted.isPresent()) throw new GatunException("GET " + name + "/metrics: refused");
      return new Reading(objects.size() + keyCountError, Math.min(starts, startsShown), ends, 0, role, startId);
    }
  }

  /** A key on each line, as the real one lists them: whatever line ends are in a key. */
  @Override
  public List<String> keys(int limit, Deadline deadline) {
    OptionalLong scripted = script.hit("keys");
    synchronized (this) {
      if (down || scripted.isPresent()) throw new GatunException("GET " + name + "/get_all_keys: refused");
      return objects.entrySet().stream().filter(entry -> entry.getValue().complete()).map(Map.Entry::getKey)
          .flatMap(String::lines)
          .limit(limit)
          .toList();
    }
  }

  /** The counter of put starts never shows more than this. */
  synchronized void startsShown(long most) {
    startsShown = most;
  }

  /** Keeps something that its counters do not count. */
  synchronized void uncounted(String reason) {
    uncounted = List.of(reason);
  }

  @Override
  public synchronized List<String> uncounted(Deadline deadline) {
    return uncounted;
  }

  @Override
  public String source() {
    return name;
  }
}
