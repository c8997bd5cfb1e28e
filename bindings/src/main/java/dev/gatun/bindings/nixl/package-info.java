/**
 * The calls of NIXL's C interface that Gatun makes ({@code NixlC}), and the loading of its library.
 * <p>
 * Depends on the JDK and {@code linking} only.
 *
 * <pre>{@code
 * NixlLibrary.load(Path.of("/opt/nixl/lib/libnixl_capi.so")); // before the first call, once a process
 * try (Arena call = Arena.ofConfined()) { // per call
 *     MemorySegment list = call.allocate(ValueLayout.JAVA_LONG);
 *     int status = NixlC.nixl_capi_create_xfer_dlist(NixlC.NIXL_CAPI_MEM_DRAM(), list);
 *     status = NixlC.nixl_capi_destroy_xfer_dlist(list.get(ValueLayout.JAVA_LONG, 0));
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.bindings.nixl;

import org.jspecify.annotations.NullMarked;
