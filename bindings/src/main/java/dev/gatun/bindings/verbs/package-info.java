/**
 * The calls of Gatun's own shim over libibverbs ({@code VerbsC}), and the loading of both.
 * <p>
 * Depends on the JDK and {@code linking} only.
 *
 * <pre>{@code
 * VerbsLibrary.load(Path.of("/opt/gatun/libgatun_verbs.so")); // before the first call, once a process
 * int library = VerbsLibrary.open("libibverbs.so.1");
 * try (Arena call = Arena.ofConfined()) { // per call
 *     MemorySegment names = gatun_verbs_name.allocateArray(16, call);
 *     int count = VerbsC.gatun_verbs_devices(library, names, 16);
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.bindings.verbs;

import org.jspecify.annotations.NullMarked;
