package dev.gatun.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Matrix products on a high-priority stream of this process, of {@code benchmarks/cuda/product.cu}; lives with the process. */
final class MatrixProduct implements Product {
  private final SymbolLookup library;
  private final MemorySegment product;
  private final MethodHandle queue;
  private final MethodHandle running;
  private final MethodHandle millis;

  MatrixProduct(Path file, int device, int size) {
    library = SymbolLookup.libraryLookup(file, Arena.global()); // process: CUDA libraries are never unmapped
    queue = bind("product_queue", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    running = bind("product_running", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    millis = bind("product_millis", FunctionDescriptor.of(JAVA_FLOAT, ADDRESS));
    try {
      MethodHandle create = bind("product_create", FunctionDescriptor.of(ADDRESS, JAVA_INT, JAVA_INT));
      product = (MemorySegment) create.invokeExact(device, size);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    if (product.address() == 0) throw new IllegalStateException("the product could not be made; see above");
  }

  private MethodHandle bind(String name, FunctionDescriptor shape) {
    return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), shape);
  }

  @Override
  public void queue(int products) {
    try {
      if ((int) queue.invokeExact(product, products) != 0) throw new IllegalStateException("product_queue failed");
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean isRunning() {
    try {
      return (int) running.invokeExact(product) != 0;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public double millis() {
    try {
      float taken = (float) millis.invokeExact(product);
      if (taken < 0) throw new IllegalStateException("product_millis failed");
      return taken;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
