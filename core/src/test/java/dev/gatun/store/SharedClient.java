package dev.gatun.store;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreCensus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** Passes everything on but the close, so that several stores can follow one another on one client. */
record SharedClient(StoreBackend client) implements StoreBackend {
  @Override
  public String name() {
    return client.name();
  }

  @Override
  public String hostname() {
    return client.hostname();
  }

  @Override
  public int put(MemorySegment key, MemorySegment value, long bytes, MemorySegment replicate) {
    return client.put(key, value, bytes, replicate);
  }

  @Override
  public int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes) {
    return client.batchPut(keys, pages, sizes, count, replicate, codes);
  }

  @Override
  public long get(MemorySegment key, MemorySegment page, long bytes) {
    return client.get(key, page, bytes);
  }

  @Override
  public int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results) {
    return client.batchGet(keys, pages, sizes, count, results);
  }

  @Override
  public int exists(MemorySegment key) {
    return client.exists(key);
  }

  @Override
  public int batchExists(MemorySegment keys, int count, MemorySegment answers) {
    return client.batchExists(keys, count, answers);
  }

  @Override
  public long size(MemorySegment key) {
    return client.size(key);
  }

  @Override
  public int remove(MemorySegment key, boolean force) {
    return client.remove(key, force);
  }

  @Override
  public long removeMatching(MemorySegment pattern, boolean force) {
    return client.removeMatching(pattern, force);
  }

  @Override
  public long removeAll(boolean force) {
    return client.removeAll(force);
  }

  @Override
  public int register(MemorySegment memory) {
    return client.register(memory);
  }

  @Override
  public int unregister(MemorySegment memory) {
    return client.unregister(memory);
  }

  @Override
  public int health() {
    return client.health();
  }

  @Override
  public MemorySegment encodeReplicate(ReplicateOptions options, Arena arena) {
    return client.encodeReplicate(options, arena);
  }

  @Override
  public Optional<StoreCensus> census() {
    return client.census();
  }

  @Override
  public List<String> doubts() {
    return client.doubts();
  }

  @Override
  public List<String> close(Deadline deadline) {
    return List.of();
  }

  @Override
  public void close() {}
}
