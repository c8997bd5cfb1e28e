package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeStoreC;
import dev.gatun.internal.ffm.NativeArguments;
import dev.gatun.internal.ffm.NativeHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store behind the Mooncake C ABI, whichever library exports it. Each call checks its arguments, enters the handle,
 * crosses once and leaves; nothing is allocated. Only a handle whose setup succeeded gets here.
 *
 * <p>Longer than most classes because the C ABI has 13 calls.
 */
final class MooncakeStoreBackend implements StoreBackend {
  /** Most entries of one batch: keeps native argument copies bounded; larger ones are for the caller to split. */
  static final int BATCH_MAX = 65_536;

  private static final Logger LOG = LoggerFactory.getLogger(MooncakeStoreBackend.class);

  private final NativeHandle<StoreCall> handle;
  private final StoreOptions options;
  private final String hostname;
  private final List<String> doubts;
  private final @Nullable StoreCensus census;
  private final RegistrationAdvice advice;

  MooncakeStoreBackend(NativeHandle<StoreCall> handle, StoreOptions options, String hostname, List<String> doubts,
      @Nullable StoreCensus census) {
    this.handle = handle;
    this.options = options;
    this.hostname = hostname;
    this.doubts = List.copyOf(doubts);
    this.census = census;
    advice = RdmaAdvice.of(options.protocol(), options.devices());
  }

  @Override
  public String name() {
    return name(options);
  }

  static String name(StoreOptions options) {
    return options.library() + ' ' + options.effective().get("master");
  }

  @Override
  public String hostname() {
    return hostname;
  }

  @Override
  public int put(MemorySegment key, MemorySegment value, long bytes, MemorySegment replicate) {
    NativeArguments.string("key", key);
    NativeArguments.readable("value", value, nonEmpty(bytes));
    ReplicateEncoding.check(replicate);
    MemorySegment store = handle.enter(StoreCall.PUT);
    try {
      return MooncakeStoreC.mooncake_store_put(store, key, value, bytes, replicate);
    } finally {
      handle.exit(StoreCall.PUT);
    }
  }

  @Override
  public int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes) {
    columns(keys, pages, sizes, count);
    NativeArguments.writable("codes", codes, count * JAVA_INT.byteSize());
    ReplicateEncoding.check(replicate);
    MemorySegment store = handle.enter(StoreCall.BATCH_PUT);
    try {
      return MooncakeStoreC.mooncake_store_batch_put_from(store, keys, pages, sizes, count, replicate, codes);
    } finally {
      handle.exit(StoreCall.BATCH_PUT);
    }
  }

  @Override
  public long get(MemorySegment key, MemorySegment page, long bytes) {
    NativeArguments.string("key", key);
    NativeArguments.writable("page", page, nonEmpty(bytes));
    MemorySegment store = handle.enter(StoreCall.GET);
    try {
      return MooncakeStoreC.mooncake_store_get_into(store, key, page, bytes);
    } finally {
      handle.exit(StoreCall.GET);
    }
  }

  @Override
  public int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results) {
    columns(keys, pages, sizes, count);
    NativeArguments.writable("results", results, count * JAVA_LONG.byteSize());
    MemorySegment store = handle.enter(StoreCall.BATCH_GET);
    try {
      return MooncakeStoreC.mooncake_store_batch_get_into(store, keys, pages, sizes, count, results);
    } finally {
      handle.exit(StoreCall.BATCH_GET);
    }
  }

  @Override
  public int exists(MemorySegment key) {
    NativeArguments.string("key", key);
    MemorySegment store = handle.enter(StoreCall.EXISTS);
    try {
      return MooncakeStoreC.mooncake_store_is_exist(store, key);
    } finally {
      handle.exit(StoreCall.EXISTS);
    }
  }

  @Override
  public int batchExists(MemorySegment keys, int count, MemorySegment answers) {
    NativeArguments.count("count", count, BATCH_MAX);
    NativeArguments.readable("keys", keys, count * ADDRESS.byteSize());
    NativeArguments.writable("answers", answers, count * JAVA_INT.byteSize());
    MemorySegment store = handle.enter(StoreCall.BATCH_EXISTS);
    try {
      return MooncakeStoreC.mooncake_store_batch_is_exist(store, keys, count, answers);
    } finally {
      handle.exit(StoreCall.BATCH_EXISTS);
    }
  }

  @Override
  public long size(MemorySegment key) {
    NativeArguments.string("key", key);
    MemorySegment store = handle.enter(StoreCall.SIZE);
    try {
      return MooncakeStoreC.mooncake_store_get_size(store, key);
    } finally {
      handle.exit(StoreCall.SIZE);
    }
  }

  @Override
  public int remove(MemorySegment key, boolean force) {
    NativeArguments.string("key", key);
    MemorySegment store = handle.enter(StoreCall.REMOVE);
    try {
      return MooncakeStoreC.mooncake_store_remove(store, key, force ? 1 : 0);
    } finally {
      handle.exit(StoreCall.REMOVE);
    }
  }

  @Override
  public long removeMatching(MemorySegment pattern, boolean force) {
    NativeArguments.string("pattern", pattern);
    MemorySegment store = handle.enter(StoreCall.REMOVE_MATCHING);
    try {
      return MooncakeStoreC.mooncake_store_remove_by_regex(store, pattern, force ? 1 : 0);
    } finally {
      handle.exit(StoreCall.REMOVE_MATCHING);
    }
  }

  @Override
  public long removeAll(boolean force) {
    MemorySegment store = handle.enter(StoreCall.REMOVE_ALL);
    try {
      return MooncakeStoreC.mooncake_store_remove_all(store, force ? 1 : 0);
    } finally {
      handle.exit(StoreCall.REMOVE_ALL);
    }
  }

  @Override
  public int register(MemorySegment memory) {
    NativeArguments.writable("memory", memory, 1);
    MemorySegment store = handle.enter(StoreCall.REGISTER);
    try {
      return MooncakeStoreC.mooncake_store_register_buffer(store, memory, memory.byteSize());
    } finally {
      handle.exit(StoreCall.REGISTER);
    }
  }

  @Override
  public RegistrationAdvice registrationAdvice() {
    return advice;
  }

  @Override
  public int unregister(MemorySegment memory) {
    NativeArguments.readable("memory", memory, 1);
    MemorySegment store = handle.enter(StoreCall.UNREGISTER);
    try {
      // the address alone, which is all that is looked at: adopted memory may be gone by now
      return MooncakeStoreC.mooncake_store_unregister_buffer(store, MemorySegment.ofAddress(memory.address()));
    } finally {
      handle.exit(StoreCall.UNREGISTER);
    }
  }

  @Override
  public int health() {
    MemorySegment store = handle.enter(StoreCall.HEALTH);
    try {
      return MooncakeStoreC.mooncake_store_health_check(store);
    } finally {
      handle.exit(StoreCall.HEALTH);
    }
  }

  @Override
  public MemorySegment encodeReplicate(ReplicateOptions replicate, Arena arena) {
    return ReplicateEncoding.encode(replicate, arena);
  }

  @Override
  public Optional<StoreCensus> census() {
    return Optional.ofNullable(census);
  }

  @Override
  public List<String> doubts() {
    return doubts;
  }

  @Override
  public List<String> unprovable() {
    return options.isHighlyAvailable()
        ? List.of("the master is highly available: another one may take over and restore removed objects from its log")
        : List.of();
  }

  @Override
  public List<String> close(Deadline deadline) {
    List<String> pending = handle.close(deadline);
    if (pending.isEmpty()) {
      OpenNatives.remove(this);
      if (census instanceof MasterCensus http) http.close();
    }
    return pending;
  }

  @Override
  public void close() {
    List<String> pending = close(Deadline.after(options.closeTimeout()));
    if (!pending.isEmpty()) {
      LOG.warn("{} was not destroyed within {} ms, still pending: {}; its memory stays in use", name(),
          options.closeTimeout().toMillis(), pending);
    }
  }

  private static void columns(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count) {
    NativeArguments.count("count", count, BATCH_MAX);
    NativeArguments.readable("keys", keys, count * ADDRESS.byteSize());
    NativeArguments.readable("pages", pages, count * ADDRESS.byteSize());
    NativeArguments.readable("sizes", sizes, count * JAVA_LONG.byteSize());
  }

  /** Single calls treat an empty value as success without an object, or as a fault, by function: refuse it for all. */
  private static long nonEmpty(long bytes) {
    if (bytes < 1) throw new IllegalArgumentException("bytes must be 1 or more: " + bytes);
    return bytes;
  }
}
