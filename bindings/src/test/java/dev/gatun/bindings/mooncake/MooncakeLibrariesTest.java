package dev.gatun.bindings.mooncake;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.bindings.linking.LibraryVetting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.SymbolLookup;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class MooncakeLibrariesTest {
  private static final String STORE_FUNCTION = "mooncake_store_remove_all";
  private static final String ENGINE_FUNCTION = "submitTransfer";

  @TempDir
  Path folder;

  @Test
  @DisplayName("the allow-lists name 18 store and 26 engine functions, and the module requires exactly those")
  void requiredSymbolsAreTheAllowLists() {
    assertEquals(18, AllowList.STORE.functions().size());
    assertEquals(26, AllowList.ENGINE.functions().size());
    assertEquals(Stream.of(AllowList.STORE, AllowList.ENGINE).flatMap(list -> list.functions().stream()).toList(),
        MooncakeLibraries.functions());
  }

  @Test
  @DisplayName("K15.06 the engine's graceful-shutdown switch is in the header, and neither bound nor asked for by name")
  void gracefulShutdownIsNotBound() throws Exception {
    String name = "enableGracefulShutdown";
    assertTrue(Files.readString(Repository.ABI.resolve("mooncake_transfer_engine.h")).contains(name));
    assertFalse(AllowList.ENGINE.functions().contains(name));
    assertFalse(MooncakeLibraries.functions().contains(name));
    assertEquals(List.of(), Stream.of(MooncakeEngineC.class.getMethods()).map(Method::getName)
        .filter(method -> method.startsWith(name)).toList());
    assertEquals(List.of(), Repository.javaSources().filter(file -> text(file).contains(name)).toList());
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  @DisplayName("an empty set is refused")
  void refusesNothing() {
    assertThrows(IllegalArgumentException.class, () -> MooncakeLibraries.load(List.of()));
  }

  @Test
  @DisplayName("a missing file and a library with a missing dependency are refused with the place and the linker's reason")
  void saysWhyALibraryDoesNotOpen() throws Exception {
    Path nowhere = folder.resolve("libnowhere.so");
    String absent = messageOf(UnsatisfiedLinkError.class, () -> MooncakeLibraries.load(List.of(nowhere)));
    assertTrue(absent.contains(nowhere.toString()), absent);

    Path needed = SymbolLibrary.compile(folder, "needed", List.of("needed"), "-Wl,-soname,libneeded.so.7");
    Path needing = SymbolLibrary.compile(folder, "needing", MooncakeLibraries.functions(), "-Wl,--no-as-needed",
        needed.toString());
    Files.delete(needed);
    String refused = messageOf(UnsatisfiedLinkError.class,
        () -> LibraryVetting.require(List.of(needing), List.of(), ""));
    assertTrue(refused.contains("cannot open " + needing) && refused.contains("libneeded.so.7"), refused);
  }

  /** One history of one process, in order, since a process binds once; surefire gives this class its own. */
  @Test
  @DisplayName("incomplete libraries are refused with every missing name, then one set is bound and no other")
  void bindsOneCompleteSet() throws Exception {
    List<String> all = MooncakeLibraries.functions();
    Path incomplete = SymbolLibrary.compile(folder, "incomplete", all.stream()
        .filter(name -> !name.equals(STORE_FUNCTION) && !name.equals(ENGINE_FUNCTION)).toList());
    String missing = messageOf(UnsatisfiedLinkError.class, () -> MooncakeLibraries.load(List.of(incomplete)));
    assertAll(() -> assertTrue(missing.contains("2 of 44"), missing),
        () -> assertTrue(missing.contains(STORE_FUNCTION), missing),
        () -> assertTrue(missing.contains(ENGINE_FUNCTION), missing),
        () -> assertTrue(missing.contains(incomplete.toString()), missing),
        () -> assertFalse(missing.contains("mooncake_store_get_into"), missing),
        () -> assertTrue(SymbolLookup.loaderLookup().find("mooncake_store_create").isEmpty(),
            "nothing may be bound before the names are vetted"));

    String storeless = messageOf(UnsatisfiedLinkError.class, () -> MooncakeLibraries.loadStore(List.of(incomplete)));
    assertTrue(storeless.contains("1 of 18") && storeless.contains(STORE_FUNCTION), storeless);

    Path engine = SymbolLibrary.compile(folder, "engine", AllowList.ENGINE.functions());
    Path store = SymbolLibrary.compile(folder, "store", AllowList.STORE.functions());
    MooncakeLibraries.load(List.of(engine, store));
    assertNotEquals(0, MooncakeStoreC.mooncake_store_remove_all$address().address());
    assertNotEquals(0, MooncakeEngineC.submitTransfer$address().address());

    Path link = Files.createSymbolicLink(folder.resolve("libengine-link.so"), engine);
    assertDoesNotThrow(() -> MooncakeLibraries.load(List.of(link, store)), "the same files again");
    assertDoesNotThrow(() -> MooncakeLibraries.loadStore(List.of(engine, store)), "a part of them");

    Path other = SymbolLibrary.compile(folder, "other", all);
    String refused = messageOf(IllegalStateException.class, () -> MooncakeLibraries.load(List.of(other)));
    Stream.of(engine, store, other).forEach(path -> assertTrue(refused.contains(path.toString()), refused));
  }

  private static String messageOf(Class<? extends Throwable> type, Executable action) {
    return Objects.requireNonNull(assertThrows(type, action).getMessage());
  }
}
