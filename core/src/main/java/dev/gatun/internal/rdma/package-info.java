/**
 * The way to libibverbs: through Gatun's shim and its generated bindings.
 *
 * <p>Depends on {@code rdma}, the bindings and the native libraries' locator. Not exported; reached through
 * {@link java.util.ServiceLoader}.
 *
 * <pre>{@code
 * RdmaProvider provider = new VerbsProvider();
 * RdmaReport report = provider.probe();
 * if (report.devices().isEmpty()) {
 *     System.out.println(report.missing() + "; " + report.fix());
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.internal.rdma;

import org.jspecify.annotations.NullMarked;
