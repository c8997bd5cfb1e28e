package dev.gatun.internal.backend;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Compiles {@code recorder.c}, a store library that prints what it is asked to do. */
final class RecorderLibrary {
  private RecorderLibrary() {}

  static Path compile(Path folder) throws IOException, InterruptedException {
    Path source = folder.resolve("recorder.c");
    try (InputStream in = RecorderLibrary.class.getResourceAsStream("recorder.c")) {
      Files.writeString(source, new String(Objects.requireNonNull(in).readAllBytes(), UTF_8));
    }
    Path library = folder.resolve("librecorder.so");
    Process compiler = new ProcessBuilder("cc", "-Wall", "-Werror", "-shared", "-fPIC",
        "-Wl,-soname,libmooncake_store.so", "-o", library.toString(),
        source.toString(), "-ldl").redirectErrorStream(true).start();
    String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
    if (compiler.waitFor() != 0) throw new AssertionError("cc failed:\n" + output);
    return library;
  }
}
