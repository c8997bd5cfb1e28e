package dev.gatun.bindings.mooncake;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Looks into libraries before this module binds to them. */
final class LibraryVetting {
  private LibraryVetting() {}

  /** Opens the libraries in order and throws unless together they define every symbol. */
  static void require(List<Path> libraries, Collection<String> symbols) {
    List<SymbolLookup> opened = new ArrayList<>();
    for (Path library : libraries) {
      opened.add(open(library));
    }
    List<String> missing = symbols.stream()
        .filter(symbol -> opened.stream().allMatch(library -> library.find(symbol).isEmpty())).toList();
    if (!missing.isEmpty()) {
      throw new UnsatisfiedLinkError(missing.size() + " of " + symbols.size() + " required functions are missing from "
          + libraries + ": " + String.join(", ", missing)
          + "; use a build of Mooncake that exports its C interface (store and transfer engine)");
    }
  }

  private static SymbolLookup open(Path library) {
    try {
      return SymbolLookup.libraryLookup(library, Arena.global()); // process: unmapping a library with threads kills
    } catch (IllegalArgumentException e) {
      UnsatisfiedLinkError error = new UnsatisfiedLinkError(
          "cannot open " + library + ": " + DynamicLinker.refusal(library));
      error.initCause(e);
      throw error;
    }
  }
}
