package dev.gatun.rdma;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;

/** A copy of the stand-in for libibverbs, with devices of its own. */
final class VerbsStandIn {
  static final String PROPERTY = "gatun.verbs.library";

  private final Path library;

  private VerbsStandIn(Path library) {
    this.library = library;
  }

  static VerbsStandIn copyTo(Path folder, String name) {
    try {
      Path built = Path.of(System.getProperty("gatun.native.out"), name);
      return new VerbsStandIn(Files.copy(built, folder.resolve(name)));
    } catch (IOException e) {
      throw new UncheckedIOException("no stand-in " + name + "; build the native module first", e);
    }
  }

  Path library() {
    return library;
  }

  /** Selects it and gives it devices; the form is described in native/standin/verbs.c. */
  void show(String devices) {
    try {
      Files.writeString(library.resolveSibling(library.getFileName() + ".devices"), devices);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.setProperty(PROPERTY, library.toString());
  }

  /** {@return what it has given out and not been given back: devices opened, memory registered} */
  int live() {
    try {
      SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global()); // process: the shim keeps it as well
      return (int) Linker.nativeLinker().downcallHandle(symbols.findOrThrow("gatun_verbs_standin_live"),
          FunctionDescriptor.of(JAVA_INT)).invokeExact();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("it throws nothing", e);
    }
  }
}
