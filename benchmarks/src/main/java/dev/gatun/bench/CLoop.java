package dev.gatun.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.bindings.mooncake.MooncakeStoreC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code libgatun_c_bench.so}: the C program's loop and its memcpy, called once for a whole measurement. */
final class CLoop {
  private static final String FILE = "libgatun_c_bench.so";
  // order of gatun_c_bench_calls_t; found by the time the first store is open
  private final MemorySegment calls = Arena.global().allocate(ADDRESS, 7);
  private final MethodHandle run;
  private final MethodHandle memcpy;

  /** Loads the library for the life of the process; a store library must be loaded. */
  CLoop() {
    SymbolLookup library = SymbolLookup.libraryLookup(built(FILE), Arena.global());
    Linker linker = Linker.nativeLinker();
    run = linker.downcallHandle(library.findOrThrow("gatun_c_bench_run"), FunctionDescriptor.of(JAVA_LONG, ADDRESS,
        ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS));
    memcpy = linker.downcallHandle(library.findOrThrow("gatun_c_bench_memcpy"), FunctionDescriptor.of(JAVA_LONG,
        ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS));
    MemorySegment[] functions = {MooncakeStoreC.mooncake_store_put_from$address(),
        MooncakeStoreC.mooncake_store_get_into$address(), MooncakeStoreC.mooncake_store_batch_put_from$address(),
        MooncakeStoreC.mooncake_store_batch_get_into$address(), MooncakeStoreC.mooncake_store_batch_is_exist$address(),
        MooncakeStoreC.mooncake_store_remove$address(), MooncakeStoreC.mooncake_store_remove_all$address()};
    for (int i = 0; i < functions.length; i++)
      calls.setAtIndex(ADDRESS, i, functions[i]);
  }

  /** {@return a file of the native build, or a message that says how to build it} */
  static Path built(String file) {
    Path path = Path.of(System.getProperty("gatun.native.out", "native/target/cmake/out"), file).toAbsolutePath();
    if (Files.isRegularFile(path)) return path;
    throw new IllegalStateException(path + " is missing: run mvn -pl native package in the repository, and this there");
  }

  /** Runs the loop on the columns of a cell, with one removal of everything between puts. */
  void run(RawStore store, StoreOperation operation, Columns columns, long iterations, MemorySegment nanos) {
    try {
      long code = (long) run.invokeExact(calls, store.handle(), operation.loopCode(), columns.keys, columns.pages,
          columns.sizes, (long) columns.count, 1, iterations, nanos);
      RawStore.require("C loop, " + operation.text(), code);
    } catch (Throwable e) {
      throw rethrown(e);
    }
  }

  /** Copies pages by this many threads, and times each round. */
  void memcpy(MemorySegment target, MemorySegment source, StoreCell cell, int threads, long iterations,
      MemorySegment nanos) {
    if (target.byteSize() < cell.bytes() || source.byteSize() < cell.bytes()) {
      throw new IllegalArgumentException("target and source must have " + cell.bytes() + " bytes");
    }
    try {
      long code = (long) memcpy.invokeExact(target, source, cell.pageBytes(), (long) cell.batch(), (long) threads,
          iterations, nanos);
      RawStore.require("C memcpy", code);
    } catch (Throwable e) {
      throw rethrown(e);
    }
  }

  private static RuntimeException rethrown(Throwable e) {
    if (e instanceof Error error) throw error;
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }
}
