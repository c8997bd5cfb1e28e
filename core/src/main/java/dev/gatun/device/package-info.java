/**
 * KV pages in GPU memory: where an engine's paged cache holds the pieces of a block, and GPU memory, streams, events, pinned
 * host slabs and kernels that gather such pieces and scatter them again.
 *
 * <p>Depends on {@code dev.gatun.backend} and {@code dev.gatun.memory} only. Start at {@link Device} and
 * {@link PagedKvLayout}.
 *
 * <pre>{@code
 * try (Device gpu = Device.open(0);
 *     DeviceStream stream = gpu.newStream("pages", StreamPriority.LOW);
 *     FragmentTable table = FragmentTable.allocate("out", stream, tensors, layout.fragmentBytes(), layout.fragments());
 *     PageCopy pages = PageCopy.load(gpu)) {
 *   pages.gather(table.addBlock(layout, 17).upload(), 0, table.count(), ring, 0);
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.device;

import org.jspecify.annotations.NullMarked;
