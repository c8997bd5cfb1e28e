package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandInTest {
  @TempDir
  Path directory;

  @Test
  @DisplayName("functions answer an error code, C++ names included; texts are texts")
  void answers() throws Throwable {
    List<String> symbols = List.of("aclrtGetDeviceCount", "_ZN4adxl10AdxlEngine8FinalizeEv", "aclGetRecentErrMsg",
        "NewEtcdClient");
    StandIn.compile(directory, "libnone.so", symbols);
    var library = NativeLibraries.open(List.of(directory.resolve("libnone.so")));
    Linker linker = Linker.nativeLinker();

    for (String name : symbols.subList(0, 2)) {
      var function = linker.downcallHandle(library.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT));
      assertEquals(-1, (int) function.invokeExact());
    }
    var text = linker.downcallHandle(library.find("aclGetRecentErrMsg").orElseThrow(), FunctionDescriptor.of(ADDRESS));
    assertEquals("stand-in: no device", ((MemorySegment) text.invokeExact()).reinterpret(100).getString(0));
    var etcd = linker.downcallHandle(library.find("NewEtcdClient").orElseThrow(),
        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(ADDRESS);
      assertEquals(-1, (int) etcd.invokeExact(MemorySegment.NULL, message));
      assertEquals("stand-in: no etcd client", message.get(ADDRESS, 0).reinterpret(100).getString(0));
    }
  }

  @Test
  @DisplayName("what is no symbol never reaches the compiler")
  void noSymbol() {
    assertThrows(IllegalArgumentException.class, () -> StandIn.source(List.of("f\"); system(\"true")));
  }

  @Test
  @DisplayName("no compiler: every name that was tried, and the line to type")
  void noCompiler() {
    var refused = assertThrows(LibraryUnavailableException.class,
        () -> StandIn.compile(directory, "libnone.so", List.of(), List.of("no-such-cc", "no-such-clang")));

    assertEquals(2, refused.tried().size());
    assertEquals("apt-get install gcc binutils", refused.fix());
  }

  @Test
  @DisplayName("an ELF file's needs: strong undefined symbols, definitions, sonames; weak ones may stay undefined")
  void elf() throws IOException {
    TinyLibrary.compilePair(directory, "elf");
    Path wanting = TinyLibrary.compile(directory, "libwanting.so",
        "int strong(void); __attribute__((weak)) int weak(void); static int hidden(void) { return 1; }"
            + " int given(void) { return strong() + (weak ? weak() : 0) + hidden(); }");

    ElfFile elf = ElfFile.read(wanting);

    assertEquals(Set.of("strong"), elf.undefined());
    assertTrue(elf.defined().contains("given"));
    assertFalse(elf.defined().contains("hidden"));
    assertEquals(List.of("libelfinner.so"), ElfFile.read(directory.resolve("libelfouter.so")).needed());
  }

  @Test
  @DisplayName("a file that is cut off or no ELF file is an error, not a crash")
  void brokenElf() throws IOException {
    Path whole = TinyLibrary.compile(directory, "libwhole.so", "int f(void) { return 1; }");
    byte[] bytes = Files.readAllBytes(whole);

    for (int length : new int[]{0, 3, 40, 63, bytes.length / 2, bytes.length - 64}) {
      Path cut = Files.write(directory.resolve("cut"), java.util.Arrays.copyOf(bytes, length));
      assertThrows(IOException.class, () -> ElfFile.read(cut), () -> "length " + length);
    }
    assertThrows(IOException.class, () -> ElfFile.read(Files.write(directory.resolve("zeros"), new byte[4096])));
  }
}
