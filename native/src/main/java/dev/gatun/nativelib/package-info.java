/**
 * Finds the shared libraries behind Gatun, loads them, and says what was tried and what to type when one is missing;
 * installs NIXL; installs and starts a real Mooncake for trying out and for tests.
 *
 * <p>Depends on the JDK only.
 *
 * <pre>{@code
 * MooncakeRuntime runtime = MooncakeInstaller.install();
 * try (MooncakeMaster master = MooncakeMaster.start(runtime)) {
 *   SymbolLookup symbols = NativeLibraries.open(runtime.libraries());
 *   connectStore(symbols, master.rpcAddress());
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.nativelib;

import org.jspecify.annotations.NullMarked;
