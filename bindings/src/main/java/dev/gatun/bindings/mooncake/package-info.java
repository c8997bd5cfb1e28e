/**
 * The C interface of Mooncake's store and transfer engine ({@code MooncakeStoreC}, {@code MooncakeEngineC}), what only
 * the loopback library adds to it ({@code LoopbackC}), and the loading of their libraries.
 * <p>
 * Depends on the JDK only.
 *
 * <pre>{@code
 * MooncakeLibraries.load(List.of(Path.of("libgatun_loopback.so"))); // before the first call, once a process
 * MemorySegment store = MooncakeStoreC.mooncake_store_create();
 * try (Arena call = Arena.ofConfined()) { // per call
 *     int present = MooncakeStoreC.mooncake_store_is_exist(store, call.allocateFrom("key"));
 * }
 * MooncakeStoreC.mooncake_store_destroy(store);
 * }</pre>
 */
@NullMarked
package dev.gatun.bindings.mooncake;

import org.jspecify.annotations.NullMarked;
