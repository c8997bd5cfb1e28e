/**
 * The ways to a GPU driver: generated FFM bindings ({@code ffm}), LWJGL ({@code lwjgl}), and host memory that behaves like a
 * GPU, for trying out and tests without one ({@code host}).
 *
 * <p>Depends on {@code device} and {@code bindings} only. Not exported.
 *
 * <pre>{@code
 * CudaDriver driver = new HostDriverProvider().open();
 * long context = driver.retainContext(0);
 * driver.pushContext(context);
 * long address = driver.allocate(4_096);
 * driver.free(address);
 * driver.popContext();
 * }</pre>
 */
@NullMarked
package dev.gatun.internal.device;

import org.jspecify.annotations.NullMarked;
