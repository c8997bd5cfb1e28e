package dev.gatun.internal.backend;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;

/** Compiles {@code recorder.c}, a store library that prints what it is asked to do. */
final class RecorderLibrary {
  private static final String FUNCTION = "--include-function ";

  private RecorderLibrary() {}

  static Path compile(Path folder) throws IOException, InterruptedException {
    Path source = folder.resolve("recorder.c");
    try (InputStream in = RecorderLibrary.class.getResourceAsStream("recorder.c")) {
      Files.writeString(source, new String(Objects.requireNonNull(in).readAllBytes(), UTF_8) + engine());
    }
    Path library = folder.resolve("librecorder.so");
    Process compiler = new ProcessBuilder("cc", "-Wall", "-Werror", "-shared", "-fPIC",
        "-Wl,-soname,libmooncake_store.so", "-o", library.toString(),
        source.toString(), "-ldl").redirectErrorStream(true).start();
    String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
    if (compiler.waitFor() != 0) throw new AssertionError("cc failed:\n" + output);
    return library;
  }

  /** The engine's functions, which the bindings require beside the store's; never called here. */
  private static String engine() throws IOException {
    Path list = Path.of(System.getProperty("gatun.root"), "native", "includes", "mooncake_transfer_engine.includes");
    return Files.readAllLines(list).stream().filter(line -> line.startsWith(FUNCTION))
        .map(line -> "void " + line.substring(FUNCTION.length()).strip() + "(void) { abort(); }\n")
        .collect(Collectors.joining());
  }
}
