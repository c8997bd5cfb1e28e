/**
 * The RDMA devices of this machine as libibverbs shows them, what they and the kernel let a process register, and what the
 * errors of a registration mean.
 *
 * <p>Depends on {@code backend} only. Start at {@link RdmaDevices}.
 *
 * <pre>{@code
 * RdmaReport report = RdmaDevices.probe();
 * for (RdmaDevice device : report.devices()) {
 *     boolean works = device.isUsable() && RdmaDevices.tryRegister(device.name(), 1 << 20).worked();
 * }
 * System.out.println(report.summary() + LockedMemory.read());
 * }</pre>
 */
@NullMarked
package dev.gatun.rdma;

import org.jspecify.annotations.NullMarked;
