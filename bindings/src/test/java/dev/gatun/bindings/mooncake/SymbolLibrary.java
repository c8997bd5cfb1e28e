package dev.gatun.bindings.mooncake;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Shared libraries made of names only, to be looked into and never called. */
final class SymbolLibrary {
  private SymbolLibrary() {}

  static Path compile(Path folder, String name, List<String> symbols, String... linkerArguments)
      throws IOException, InterruptedException {
    Path source = folder.resolve(name + ".cpp");
    Files.writeString(source, symbols.stream().map(symbol -> "extern \"C\" void " + symbol + "() {}\n")
        .collect(Collectors.joining()));
    Path library = folder.resolve("lib" + name + ".so");
    Repository.compile(Stream.concat(
        Stream.of("-shared", "-fPIC", "-o", library.toString(), source.toString()),
        Stream.of(linkerArguments)).toArray(String[]::new));
    return library;
  }
}
