package dev.gatun.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * One open store of some library, as its C ABI offers it: numbers in, numbers out, no policy. Gatun's own
 * {@code KvStore} stands on it and is what applications use.
 *
 * <p>Columns are off-heap arrays: {@code keys} and {@code pages} of 8-byte pointers (keys NUL-terminated), {@code sizes}
 * of 8-byte lengths, results of 4 or 8 bytes an entry. Everything they point at must stay valid until the call returns,
 * and after {@link StoreCode#TRANSFER_FAIL} until the store is closed.
 *
 * <p>All calls may run concurrently. Closing lets running calls end and refuses later ones with
 * {@link ClosedException}. All calls block, up to the library's own time-outs: run them on platform threads.
 */
public interface StoreBackend extends AutoCloseable {

  /** {@return a name for reports: library and master, such as {@code mooncake 127.0.0.1:50051}} */
  String name();

  /** {@return the segment name under which this client is known, {@code host:port}} */
  String hostname();

  /**
   * Copies one value in.
   *
   * @param key NUL-terminated
   * @param value the bytes, any native segment
   * @param bytes length, above 0
   * @param replicate encoded by {@link #encodeReplicate}
   * @return 0 or a negative code
   */
  int put(MemorySegment key, MemorySegment value, long bytes, MemorySegment replicate);

  /**
   * Puts {@code count} pages from registered memory.
   *
   * @param keys column of key pointers
   * @param pages column of page pointers
   * @param sizes column of lengths in bytes
   * @param count entries, 0 or more
   * @param replicate encoded by {@link #encodeReplicate}
   * @param codes receives a 4-byte code an entry; untouched when the call itself fails
   * @return 0, or a negative code when the call failed as a whole
   */
  int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes);

  /**
   * Gets one value whole.
   *
   * @param key NUL-terminated
   * @param page destination, any native segment
   * @param bytes room, in bytes
   * @return length of the value or a negative code
   */
  long get(MemorySegment key, MemorySegment page, long bytes);

  /**
   * Gets {@code count} pages into registered memory.
   *
   * @param keys column of key pointers
   * @param pages column of page pointers
   * @param sizes column of room in bytes
   * @param count entries, 0 or more
   * @param results receives 8 bytes an entry: length or negative code; untouched when the call itself fails
   * @return 0, or a negative code when the call failed as a whole
   */
  int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results);

  /**
   * Asks whether a key can be read; grants a lease if so.
   *
   * @param key NUL-terminated
   * @return 1, 0 or a negative code
   */
  int exists(MemorySegment key);

  /**
   * Asks for {@code count} keys; grants leases.
   *
   * @param keys column of key pointers
   * @param count entries, 0 or more
   * @param answers receives 4 bytes an entry: 1, 0 or a negative code; untouched when the call itself fails
   * @return 0, or a negative code when the call failed as a whole
   */
  int batchExists(MemorySegment keys, int count, MemorySegment answers);

  /**
   * Asks for a value's length; grants a lease.
   *
   * @param key NUL-terminated
   * @return length in bytes or a negative code
   */
  long size(MemorySegment key);

  /**
   * Removes one object.
   *
   * @param key NUL-terminated
   * @param force ignore leases
   * @return 0 or a negative code
   */
  int remove(MemorySegment key, boolean force);

  /**
   * Removes what an ECMAScript pattern finds in the key.
   *
   * @param pattern NUL-terminated; long keys with quantified groups crash some masters, so callers restrict it
   * @param force ignore leases
   * @return objects removed or a negative code
   */
  long removeMatching(MemorySegment pattern, boolean force);

  /**
   * Removes all complete objects of all clients. Puts in flight are skipped and may land afterwards.
   *
   * @param force ignore leases
   * @return objects removed, which says nothing about what is left, or a negative code
   */
  long removeAll(boolean force);

  /**
   * Registers caller memory for transfers.
   *
   * @param memory whole slab
   * @return 0 or a negative code
   */
  int register(MemorySegment memory);

  /**
   * Unregisters memory by its base address. Must not run while a transfer uses it.
   *
   * @param memory the segment that was registered
   * @return 0 or a negative code
   */
  int unregister(MemorySegment memory);

  /** {@return what is known about registering memory with it} */
  default RegistrationAdvice registrationAdvice() {
    return RegistrationAdvice.NONE;
  }

  /** {@return the library's own health figure: 0 healthy, 1 not initialised, 2 master unreachable, negative on error} */
  int health();

  /**
   * Encodes replicate options for {@link #put} and {@link #batchPut}.
   *
   * @param options what is wanted
   * @param arena owns the encoding, which must outlive its use
   * @return the native structure
   */
  MemorySegment encodeReplicate(ReplicateOptions options, Arena arena);

  /** {@return the administrator's view of the whole store, where one can be had} */
  Optional<StoreCensus> census();

  /**
   * {@return reasons in this process why a clean removal would not prove that nothing old can be read, such as the
   * library's cache of hot objects being on; empty if none. A codec whose keys carry no epoch must refuse to open on one}
   */
  List<String> doubts();

  /**
   * {@return reasons outside this process why no removal can be proved, such as another master that may take over with a
   * log of its own; they limit what a refit can claim and refuse nothing}
   */
  default List<String> unprovable() {
    return List.of();
  }

  /**
   * Refuses new calls, waits for running ones and destroys the store. Blocks, for seconds with a real master.
   * Idempotent: once the store is destroyed it answers at once, and after a deadline it may be called again.
   *
   * @param deadline when to give up; whatever is then still pending keeps running and may touch the caller's memory
   * @return what is still pending, one line each, such as {@code 2 batchGet}; empty once the store is destroyed
   */
  List<String> close(Deadline deadline);

  /** Closes with the options' close timeout, and logs a warning that lists what is pending if that is not enough. */
  @Override
  void close();
}
