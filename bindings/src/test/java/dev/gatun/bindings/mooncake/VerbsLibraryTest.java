package dev.gatun.bindings.mooncake;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.bindings.verbs.VerbsC;
import dev.gatun.bindings.verbs.VerbsLibrary;
import dev.gatun.bindings.verbs.gatun_verbs_name;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class VerbsLibraryTest {
  @TempDir
  Path folder;

  /** One history of one process, in order, since a process binds once; surefire gives this class its own. */
  @Test
  @DisplayName("K14.03 a missing or incomplete shim or libibverbs is refused each time with all causes; several may be open")
  void bindsOneShimAndOpensLibraries() throws Exception {
    Path nowhere = folder.resolve("libgatun_verbs.so");
    for (int attempt = 0; attempt < 2; attempt++) {
      assertTrue(refusal(() -> VerbsLibrary.load(nowhere)).contains(nowhere.toString()));
    }
    List<String> functions = AllowList.VERBS.functions();
    Path incomplete = SymbolLibrary.compile(folder, "incomplete",
        functions.stream().filter(name -> !name.equals("gatun_verbs_devices")).toList());
    String missing = refusal(() -> VerbsLibrary.load(incomplete));
    assertTrue(missing.contains("1 of " + functions.size()) && missing.contains("gatun_verbs_devices"), missing);

    Path shim = Repository.built("libgatun_verbs.so");
    VerbsLibrary.load(shim);
    assertDoesNotThrow(() -> VerbsLibrary.load(shim), "the same file again");
    Path other = SymbolLibrary.compile(folder, "other", functions);
    assertTrue(Objects.requireNonNull(assertThrows(IllegalStateException.class, () -> VerbsLibrary.load(other))
        .getMessage()).contains(other.getFileName().toString()));

    opensLibraries();
  }

  private void opensLibraries() throws Exception {
    String nowhere = folder.resolve("libibverbs.so.1").toString();
    assertTrue(refusal(() -> VerbsLibrary.open(nowhere)).contains(nowhere));
    Path some = SymbolLibrary.compile(folder, "some", List.of("ibv_get_device_list", "ibv_dereg_mr"));
    String missing = refusal(() -> VerbsLibrary.open(some.toString()));
    assertTrue(missing.contains("ibv_reg_mr") && !missing.contains("ibv_dereg_mr"), missing);
    assertThrows(IllegalArgumentException.class, () -> VerbsLibrary.open("libibverbs\0.so.1"));

    Path copy = Files.copy(Repository.built("libgatun_verbs_standin.so"), folder.resolve("libstandin.so"));
    Files.writeString(folder.resolve("libstandin.so.devices"), "device name=mlx5_0\n");
    int now = VerbsLibrary.open(copy.toString());
    int old = VerbsLibrary.open(Repository.built("libgatun_verbs_standin_old.so").toString());
    assertEquals(now, VerbsLibrary.open(copy.toString()), "the same one again");
    assertNotEquals(now, old);
    assertEquals(0, VerbsC.gatun_verbs_features(old));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment names = gatun_verbs_name.allocateArray(1, arena);
      assertEquals(1, VerbsC.gatun_verbs_devices(now, names, 1));
      assertEquals("mlx5_0", names.getString(0));
    }
  }

  private static String refusal(Executable load) {
    return Objects.requireNonNull(assertThrows(UnsatisfiedLinkError.class, load).getMessage());
  }
}
