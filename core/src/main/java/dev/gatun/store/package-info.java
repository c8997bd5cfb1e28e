/**
 * The KV store as applications use it: pages of registered memory put and got by key in batches, typed results,
 * keys and stamps that carry the weight epoch.
 *
 * <p>Depends on {@code backend} and {@code memory}.
 *
 * <pre>{@code
 * try (KvStore store = KvStore.open(options, KeyCodec.epoch("chat"), gate, Observer.NONE)) {
 *   store.register(pool.slab());
 *   StoreBatch batch = store.batch(pool, 128);
 *   batch.clear().add(KvKey.of("block-7"), block).get();
 *   boolean usable = batch.isHit(0);
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.store;

import org.jspecify.annotations.NullMarked;
