package dev.gatun.bindings.linking;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Looks into libraries before this module binds to them. */
public final class LibraryVetting {
  private LibraryVetting() {}

  /**
   * Opens the libraries in order and throws unless together they define every symbol. They stay mapped.
   *
   * @param libraries
   *            files, each after those that it needs
   * @param symbols
   *            names that must be defined
   * @param fix
   *            what to do if some are missing
   * @throws UnsatisfiedLinkError
   *             if a file is refused or symbols are missing; the message names them all
   */
  public static void require(List<Path> libraries, Collection<String> symbols, String fix) {
    List<SymbolLookup> opened = new ArrayList<>();
    for (Path library : libraries) {
      opened.add(open(library));
    }
    List<String> missing = symbols.stream()
        .filter(symbol -> opened.stream().allMatch(library -> library.find(symbol).isEmpty())).toList();
    if (!missing.isEmpty()) {
      throw new UnsatisfiedLinkError(missing.size() + " of " + symbols.size() + " required functions are missing from "
          + libraries + ": " + String.join(", ", missing) + "; " + fix);
    }
  }

  /**
   * {@return the file itself, whichever link names it}
   *
   * @param library
   *            path of a library
   * @throws UnsatisfiedLinkError
   *             if there is no such file
   */
  public static Path identity(Path library) {
    if (!Files.isRegularFile(library)) {
      throw new UnsatisfiedLinkError("no library file at " + library.toAbsolutePath());
    }
    try {
      return library.toRealPath();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot resolve " + library, e);
    }
  }

  private static SymbolLookup open(Path library) {
    try {
      return SymbolLookup.libraryLookup(library, Arena.global()); // process: unmapping a library with threads kills
    } catch (IllegalArgumentException e) {
      UnsatisfiedLinkError error = new UnsatisfiedLinkError(
          "cannot open " + library + ": " + DynamicLinker.refusal(library.toString()));
      error.initCause(e);
      throw error;
    }
  }
}
