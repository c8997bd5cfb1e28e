package dev.gatun.device;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compiles {@code cuda_standin.cpp}, a CUDA driver made of host memory, and makes every way to the driver use it for the life
 * of this process.
 */
final class StandInLibrary {
  private static final Pattern FUNCTION = Pattern.compile("\\bcu[A-Z]\\w+");
  private static boolean selected;

  private StandInLibrary() {}

  static synchronized void select() throws IOException, InterruptedException {
    if (selected) return;
    Path folder = Files.createTempDirectory("gatun-cuda-standin");
    Path library = folder.resolve("libcuda.so.1");
    Path standIn = folder.resolve("cuda_standin.cpp");
    Path others = folder.resolve("others.cpp");
    Files.write(standIn, read(StandInLibrary.class, "cuda_standin.cpp"));
    Files.writeString(others, others());
    compile(List.of("c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I",
        Path.of(Objects.requireNonNull(System.getProperty("gatun.root")), "native", "abi").toString(), "-o",
        library.toString(), standIn.toString(), others.toString()));
    System.setProperty("gatun.cuda.library", library.toString());
    for (Path file : List.of(folder, library, standIn, others))
      file.toFile().deleteOnExit();
    selected = true;
  }

  /** LWJGL wants every function that it binds to be there, called or not: they are named in the class that looks them up. */
  private static String others() throws IOException {
    String names = new String(read(org.lwjgl.cuda.CU.class, "CU$Functions.class"), ISO_8859_1);
    return FUNCTION.matcher(names).results().map(found -> found.group())
        .flatMap(name -> Stream.of(name, name + "_v2", name + "_v3")).distinct()
        .map(name -> "extern \"C\" __attribute__((weak)) int " + name + "() { return 801; }\n")
        .collect(Collectors.joining());
  }

  private static byte[] read(Class<?> beside, String name) throws IOException {
    try (InputStream in = beside.getResourceAsStream(name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  private static void compile(List<String> command) throws IOException, InterruptedException {
    Process compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
    if (compiler.waitFor() != 0) throw new AssertionError("c++ failed:\n" + output);
  }
}
