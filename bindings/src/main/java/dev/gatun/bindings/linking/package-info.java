/**
 * What every library behind generated classes goes through before it is bound: opened, looked into, and, if it is
 * refused, explained.
 * <p>
 * Depends on the JDK only. Not exported.
 *
 * <pre>{@code
 * List<String> functions = AllowedFunctions.of(CudaC.class, "gatun_cuda.includes");
 * LibraryVetting.require(List.of(library), functions, "install a driver of CUDA 12.4 or newer");
 * System.load(library.toString()); // from a class of this module
 * }</pre>
 */
@NullMarked
package dev.gatun.bindings.linking;

import org.jspecify.annotations.NullMarked;
