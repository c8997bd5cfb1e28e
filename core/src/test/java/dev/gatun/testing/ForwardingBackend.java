package dev.gatun.testing;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreCensus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** Passes everything on; a test overrides what it wants otherwise. */
public abstract class ForwardingBackend implements StoreBackend {
  private final StoreBackend library;

  /** Creates it over a library, which it closes when it is closed. */
  protected ForwardingBackend(StoreBackend library) {
    this.library = library;
  }

  @Override
  public String name() {
    return library.name();
  }

  @Override
  public RegistrationAdvice registrationAdvice() {
    return library.registrationAdvice();
  }

  @Override
  public String hostname() {
    return library.hostname();
  }

  @Override
  public int put(MemorySegment key, MemorySegment value, long bytes, MemorySegment replicate) {
    return library.put(key, value, bytes, replicate);
  }

  @Override
  public int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes) {
    return library.batchPut(keys, pages, sizes, count, replicate, codes);
  }

  @Override
  public long get(MemorySegment key, MemorySegment page, long bytes) {
    return library.get(key, page, bytes);
  }

  @Override
  public int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results) {
    return library.batchGet(keys, pages, sizes, count, results);
  }

  @Override
  public int exists(MemorySegment key) {
    return library.exists(key);
  }

  @Override
  public int batchExists(MemorySegment keys, int count, MemorySegment codes) {
    return library.batchExists(keys, count, codes);
  }

  @Override
  public long size(MemorySegment key) {
    return library.size(key);
  }

  @Override
  public int remove(MemorySegment key, boolean force) {
    return library.remove(key, force);
  }

  @Override
  public long removeMatching(MemorySegment pattern, boolean force) {
    return library.removeMatching(pattern, force);
  }

  @Override
  public long removeAll(boolean force) {
    return library.removeAll(force);
  }

  @Override
  public int register(MemorySegment memory) {
    return library.register(memory);
  }

  @Override
  public int unregister(MemorySegment memory) {
    return library.unregister(memory);
  }

  @Override
  public int health() {
    return library.health();
  }

  @Override
  public MemorySegment encodeReplicate(ReplicateOptions options, Arena arena) {
    return library.encodeReplicate(options, arena);
  }

  @Override
  public Optional<StoreCensus> census() {
    return library.census();
  }

  @Override
  public List<String> doubts() {
    return library.doubts();
  }

  @Override
  public List<String> close(Deadline deadline) {
    return library.close(deadline);
  }

  @Override
  public void close() {
    library.close();
  }
}
