/**
 * KV pages in GPU memory: where an engine's paged cache holds the pieces of a block.
 *
 * <p>Depends on {@code backend} and {@code memory}. Start at {@link dev.gatun.device.PagedKvLayout}:
 *
 * <pre>{@code
 * KvShape shape = new KvShape(80, 2, 64, 128, 16, 2).ofRank(8);
 * PagedKvLayout layout = new PagedKvLayout(shape, KvStrides.tokensFirst(shape), partAddresses, blocks, 0);
 * MemorySegment table = arena.allocate(ValueLayout.JAVA_LONG, layout.fragments());
 * layout.addresses(17, table, 0); // 160 fragments of 512 bytes * 16 tokens
 * }</pre>
 */
@NullMarked
package dev.gatun.device;

import org.jspecify.annotations.NullMarked;
