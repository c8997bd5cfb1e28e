/**
 * What every caller of native code needs: one owner a native handle, C strings, checks before the crossing, memory that other
 * processes map, and a thread to throw away.
 *
 * <p>Depends on {@code backend} only. Not exported.
 *
 * <pre>{@code
 * MemorySegment store = handle.enter(StoreCall.GET); // refuses once the handle is being closed
 * try {
 *   return MooncakeStoreC.mooncake_store_get_into(store, key, page, bytes);
 * } finally { handle.exit(StoreCall.GET); }
 * }</pre>
 */
@NullMarked
package dev.gatun.internal.ffm;

import org.jspecify.annotations.NullMarked;
