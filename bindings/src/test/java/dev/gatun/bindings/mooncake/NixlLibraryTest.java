package dev.gatun.bindings.mooncake;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.bindings.nixl.NixlC;
import dev.gatun.bindings.nixl.NixlLibrary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class NixlLibraryTest {
  private static final String REQUIRED = "nixl_capi_get_xfer_status";

  @TempDir
  Path folder;

  /** One history of one process, in order, since a process binds once; surefire gives this class its own. */
  @Test
  @DisplayName("K14.03 a missing or incomplete NIXL is refused each time with all causes; then one is bound and no other")
  void bindsOneLibrary() throws Exception {
    Path nowhere = folder.resolve("libnixl_capi.so");
    for (int attempt = 0; attempt < 2; attempt++) {
      assertTrue(refusal(() -> NixlLibrary.load(nowhere)).contains(nowhere.toString()));
    }

    List<String> functions = AllowList.NIXL.functions();
    Path incomplete = library("incomplete", functions.stream().filter(name -> !name.equals(REQUIRED)));
    String missing = refusal(() -> NixlLibrary.load(incomplete));
    assertTrue(missing.contains("1 of " + functions.size()) && missing.contains(REQUIRED), missing);

    Path whole = library("whole", functions.stream());
    NixlLibrary.load(whole);
    assertNotEquals(0, NixlC.nixl_capi_get_xfer_status$address().address());
    Path link = Files.createSymbolicLink(folder.resolve("link.so"), whole);
    assertDoesNotThrow(() -> NixlLibrary.load(link), "the same file again");

    Path other = library("other", functions.stream());
    String second = Objects.requireNonNull(
        assertThrows(IllegalStateException.class, () -> NixlLibrary.load(other)).getMessage());
    assertTrue(second.contains(whole.getFileName().toString()) && second.contains(other.getFileName().toString()),
        second);
  }

  @Test
  @DisplayName("the printing calls, which write to standard output, are neither declared nor bound")
  void nothingPrints() throws Exception {
    assertEquals(List.of(), AllowList.NIXL.functions().stream().filter(name -> name.endsWith("_print")).toList());
    assertEquals(-1, Files.readString(Repository.ABI.resolve("nixl_capi.h")).indexOf("_print"));
  }

  private Path library(String name, Stream<String> functions) throws Exception {
    return SymbolLibrary.compile(folder, name, functions.toList());
  }

  private static String refusal(Executable load) {
    return Objects.requireNonNull(assertThrows(UnsatisfiedLinkError.class, load).getMessage());
  }
}
