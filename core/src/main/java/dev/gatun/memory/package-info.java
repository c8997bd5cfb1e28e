/**
 * Off-heap page pools: allocate once, register once, lend pages by generation and weight epoch.
 *
 * <p>Depends on {@code dev.gatun.backend} only. Start at {@link BlockPool}.
 *
 * <pre>{@code
 * try (BlockPool pool = BlockPool.allocate(new PoolLayout(65_536, 1_024), gate)) {
 *   long block = pool.lease();
 *   pool.page(block).fill((byte) 1);
 *   pool.release(block);
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.memory;

import org.jspecify.annotations.NullMarked;
