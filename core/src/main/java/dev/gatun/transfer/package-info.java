/**
 * Pages between processes: an engine with registered slabs, segments of peers, one-shot batches of reads and writes, and
 * messages.
 *
 * <p>Depends on {@code backend} and {@code memory}.
 *
 * <pre>{@code
 * try (TransferEngine engine = TransferEngine.open(EngineOptions.loopback(), gate)) {
 *   engine.register(pool.slab());
 *   Segment peer = engine.openSegment(SegmentDescriptor.parse(fromPeer));
 *   TransferBatch batch = engine.batch(pool, 128);
 *   batch.write(block, peer, remoteAddress).submit().await(Deadline.after(Duration.ofSeconds(5)));
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.transfer;

import org.jspecify.annotations.NullMarked;
