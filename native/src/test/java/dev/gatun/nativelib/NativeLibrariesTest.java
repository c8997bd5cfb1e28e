package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibrariesTest {
  @TempDir
  Path directory;

  @Test
  @DisplayName("the loopback library of the jar is found, loads and has the store, the engine and its own functions")
  void loopback() {
    LibraryLocation location = NativeLibraries.locateLoopback();

    var symbols = NativeLibraries.open(location.loadOrder());

    for (String name : List.of("mooncake_store_create", "createTransferEngine", "gatun_loopback_abi_version")) {
      assertTrue(symbols.find(name).isPresent(), name);
    }
    assertTrue(symbols.find("no_such_function").isEmpty());
  }

  @Test
  @DisplayName("K14.03 a missing dependency is named, a second call repeats it, and mending it is enough")
  void sameCauseTwice() throws IOException {
    // names of its own: the loader answers a soname that it has loaded before from memory
    TinyLibrary.compilePair(directory, "lost");
    Path inner = directory.resolve("liblostinner.so");
    Path hidden = Files.move(inner, directory.resolve("hidden"));
    List<Path> outer = List.of(directory.resolve("liblostouter.so"));

    var first = assertThrows(LibraryUnavailableException.class, () -> NativeLibraries.open(outer));
    var second = assertThrows(LibraryUnavailableException.class, () -> NativeLibraries.open(outer));
    Files.move(hidden, inner);

    assertTrue(first.getMessage().contains("liblostinner.so: cannot open shared object file"), first.getMessage());
    assertEquals(first.getMessage(), second.getMessage());
    assertTrue(NativeLibraries.open(outer).find("outer").isPresent());
  }

  @Test
  @DisplayName("a symbol that nobody defines is found at load, not at the first call")
  void missingSymbol() throws IOException {
    Path library = TinyLibrary.compile(directory, "libwanting.so",
        "int lacking(void); int f(void) { return lacking(); }");

    var refused = assertThrows(LibraryUnavailableException.class, () -> NativeLibraries.open(List.of(library)));

    assertTrue(refused.getMessage().contains("undefined symbol: lacking"), refused.getMessage());
  }

  @Test
  @DisplayName("a file that is no library is refused with the loader's reason")
  void noLibrary() throws IOException {
    Path text = Files.writeString(directory.resolve("libtext.so"), "text");

    var refused = assertThrows(LibraryUnavailableException.class, () -> NativeLibraries.open(List.of(text)));

    assertTrue(refused.getMessage().contains("file too short") || refused.getMessage().contains("invalid ELF header"),
        refused.getMessage());
  }

  @Test
  @DisplayName("K14.01 what is missing is answered with the package or build that brings it")
  void fixes() {
    String ending = ": cannot open shared object file: No such file or directory";

    assertEquals("apt-get install libibverbs1", DynamicLoader.fixFor("libibverbs.so.1" + ending));
    assertTrue(DynamicLoader.fixFor("libcudart.so.12" + ending).startsWith("libcudart.so.12 belongs to CUDA"));
    assertTrue(DynamicLoader.fixFor("libascendcl.so" + ending).startsWith("gatun mooncake install"));
    assertEquals("install libodd.so.3, or add its directory to LD_LIBRARY_PATH",
        DynamicLoader.fixFor("/lib/libodd.so.3" + ending));
    assertTrue(DynamicLoader.fixFor("version `GLIBC_2.38' not found").contains("C library"));
    assertTrue(DynamicLoader.fixFor("failed to map segment from shared object").contains("noexec"));
  }

  @Test
  @DisplayName("a property that names no file fails with its name, and is not passed over")
  void wrongProperty() {
    System.setProperty("gatun.loopback.library", directory.resolve("absent.so").toString());
    try {
      var refused = assertThrows(LibraryUnavailableException.class, NativeLibraries::locateLoopback);
      assertTrue(refused.getMessage().contains("gatun.loopback.library"), refused.getMessage());
      assertTrue(refused.getMessage().contains("absent.so"), refused.getMessage());
    } finally {
      System.clearProperty("gatun.loopback.library");
    }
  }

  @Test
  @DisplayName("a property that names text, nothing, a header cut short or a library for another processor is refused with its name")
  void noLibraryNamed() throws IOException {
    Path text = Files.writeString(directory.resolve("libtext.so"), "text, and longer than a header ".repeat(4));
    Path empty = Files.createFile(directory.resolve("libempty.so"));
    byte[] header = Files.readAllBytes(TinyLibrary.header(directory.resolve("libheader.so")));
    Path cut = Files.write(directory.resolve("libcut.so"), Arrays.copyOf(header, 63));
    header[18] = 40; // 32-bit ARM
    Path foreign = Files.write(directory.resolve("libforeign.so"), header);
    try {
      for (Path file : List.of(text, empty, cut, foreign)) {
        System.setProperty("gatun.loopback.library", file.toString());
        var refused = assertThrows(LibraryUnavailableException.class, NativeLibraries::locateLoopback);
        assertTrue(refused.getMessage().startsWith("gatun.loopback.library names a file that is no shared library for "
            + PackedLibraries.platform() + ": " + file), refused.getMessage());
        assertThrows(LibraryUnavailableException.class, () -> NativeLibraries.locateNixl(file));
        assertThrows(LibraryUnavailableException.class, () -> NativeLibraries.locateMooncake(file));
      }
    } finally {
      System.clearProperty("gatun.loopback.library");
    }
  }

  @Test
  @DisplayName("a property overrides the packed library")
  void property() throws IOException {
    Path library = TinyLibrary.compile(directory, "libown.so", "int own(void) { return 1; }");
    System.setProperty("gatun.loopback.library", library.toString());
    try {
      assertEquals(List.of(library), NativeLibraries.locateLoopback().loadOrder());
      assertEquals("gatun.loopback.library", NativeLibraries.locateLoopback().chosenFrom());
    } finally {
      System.clearProperty("gatun.loopback.library");
    }
  }

  @Test
  @DisplayName("K14.08 refused native access: the flag with module names on the module path, each time")
  void deniedOnModulePath() {
    var child = new ChildJvm().onModulePath().flag("--illegal-native-access=deny").run("environment-twice");

    assertEquals(0, child.code(), child::toString);
    assertTrue(child.value("first").contains("--enable-native-access=dev.gatun.nativelib"), child::toString);
    assertEquals(child.value("first"), child.value("second"));
  }

  @Test
  @DisplayName("K14.08 refused native access: ALL-UNNAMED on the class path")
  void deniedOnClassPath() {
    var child = new ChildJvm().flag("--illegal-native-access=deny").run("environment-twice");

    assertEquals(0, child.code(), child::toString);
    assertTrue(child.value("first").contains("java --enable-native-access=ALL-UNNAMED"), child::toString);
    assertEquals(child.value("first"), child.value("second"));
  }

  @Test
  @DisplayName("K14.08 granted native access: works, and nothing on standard error")
  void granted() {
    var onModulePath = new ChildJvm().onModulePath().flag("--enable-native-access=dev.gatun.nativelib")
        .flag("--illegal-native-access=deny").run("environment-twice");
    var onClassPath = ChildJvm.granted().run("environment-twice");

    for (var child : List.of(onModulePath, onClassPath)) {
      assertEquals("first", child.value("first"));
      assertEquals("second", child.value("second"));
      assertEquals("", child.err());
    }
  }

  @Test
  @DisplayName("the marker has no effect before the store is loaded; then only the store sees it; closing is idempotent")
  void marker() throws Throwable {
    SignalMarker early = SignalMarker.open();
    assertFalse(early.takesEffect());
    early.close();
    Path store = TinyLibrary.compile(directory, "libmooncake_store.so", """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        int sees(void) { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != 0; }
        """);
    var sees = Linker.nativeLinker().downcallHandle(NativeLibraries.open(List.of(store)).find("sees").orElseThrow(),
        FunctionDescriptor.of(JAVA_INT));
    assertEquals(0, (int) sees.invokeExact());

    SignalMarker marker = SignalMarker.open();

    assertTrue(marker.takesEffect());
    assertEquals(1, (int) sees.invokeExact());
    assertEquals(0, LibC.get().dlsym(MemorySegment.NULL, "Py_IsInitialized").address());
    marker.close();
    marker.close();
    assertEquals(0, LibC.get().dlsym(MemorySegment.NULL, "Py_IsInitialized").address());
  }
}
