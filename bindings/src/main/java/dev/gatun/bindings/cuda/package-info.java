/**
 * The calls of the CUDA driver that Gatun makes ({@code CudaC}), and the loading of its library.
 * <p>
 * Depends on the JDK and {@code linking} only.
 *
 * <pre>{@code
 * CudaLibrary.load(null); // before the first call, once a process; throws where there is no driver
 * int error = CudaC.cuInit(0);
 * try (Arena call = Arena.ofConfined()) { // per call
 *     MemorySegment count = call.allocate(ValueLayout.JAVA_INT);
 *     error = CudaC.cuDeviceGetCount(count);
 * }
 * }</pre>
 */
@NullMarked
package dev.gatun.bindings.cuda;

import org.jspecify.annotations.NullMarked;
