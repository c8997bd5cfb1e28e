/**
 * KV pages straight from one process's GPU memory into another's on the same host: offers and grants over a Unix socket whose
 * peer the kernel names, pushes by one kernel, and the choice between that way and others.
 *
 * <p>Depends on {@code backend}, {@code memory}, {@code device}, {@code transfer} and {@code internal.ffm}. Start at {@link DeviceSender} and
 * {@link DeviceReceiver}.
 *
 * <pre>{@code
 * DeviceReceiver decode = DeviceReceiver.connect(socket, cache, gate, deadline);
 * DeviceGrant grant = decode.grant("request-7", new int[]{17, 4, 99}, Duration.ofSeconds(30));
 * if (grant.await(deadline) == HandoverOutcome.COMMITTED) use(17, 4, 99);
 * else grant.awaitOver(deadline); // only then are the blocks free
 * }</pre>
 */
@NullMarked
package dev.gatun.transfer.device;

import org.jspecify.annotations.NullMarked;
