package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Shared libraries of one function, compiled for a test. */
final class TinyLibrary {
  private TinyLibrary() {}

  static Path compile(Path directory, String name, String code, String... linkerArguments) throws IOException {
    Path source = Files.writeString(directory.resolve(name + ".c"), code);
    Path library = directory.resolve(name);
    List<String> program = new ArrayList<>(List.of("cc", "-shared", "-fPIC", "-Wl,-soname," + name, "-o",
        library.toString(), source.toString()));
    program.addAll(List.of(linkerArguments));
    Command done = Command.run(program, Duration.ofSeconds(60));
    if (done.code() != 0) throw new AssertionError(done.output());
    return library;
  }

  /** A file of a library's header alone, which nothing can load. */
  static Path header(Path file) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(0, 0x464c457f).put(4, (byte) 2).put(5, (byte) 1).putShort(16, (short) 3);
    header.putShort(18, (short) (System.getProperty("os.arch").equals("aarch64") ? 183 : 62));
    return Files.write(file, header.array());
  }

  /** Two libraries: {@code lib(prefix)outer.so} needs {@code lib(prefix)inner.so} beside itself. */
  static void compilePair(Path directory, String prefix) throws IOException {
    compile(directory, "lib" + prefix + "inner.so", "int inner(void) { return 7; }");
    compile(directory, "lib" + prefix + "outer.so", "int inner(void); int outer(void) { return inner() + 1; }",
        "-L" + directory, "-l" + prefix + "inner", "-Wl,-rpath,$ORIGIN");
  }
}
