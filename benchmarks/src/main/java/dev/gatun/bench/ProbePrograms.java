package dev.gatun.bench;

import dev.gatun.device.Device;
import dev.gatun.nativelib.Leftovers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The raw probes of {@code benchmarks/cuda}, which lie beside this class, compiled on the machine that they measure. */
final class ProbePrograms {
  private final Path folder;
  private final Path nvcc;

  /**
   * @param folder for sources and programs
   * @param nvcc the compiler, whether it is there or not
   */
  ProbePrograms(Path folder, Path nvcc) {
    this.folder = folder;
    this.nvcc = nvcc;
  }

  /** {@return a program of a source, compiled when first asked for} */
  Path program(String source, String... options) throws IOException {
    return compiled(source, source.substring(0, source.indexOf('.')), List.of(options));
  }

  /** {@return a library of a source} */
  Path library(String source, String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of("-shared", "-Xcompiler", "-fPIC"));
    all.addAll(List.of(options));
    return compiled(source, "lib" + source.substring(0, source.indexOf('.')) + ".so", all);
  }

  /** {@return the file of the kernels} */
  Path kernels() throws IOException {
    return copied(Device.class, "pages.ptx");
  }

  private Path compiled(String source, String name, List<String> options) throws IOException {
    Path made = folder.resolve(name);
    if (Files.exists(made)) return made;
    if (!Files.isExecutable(nvcc)) throw new LeftOutException("no compiler, install CUDA's or name it: " + nvcc);
    // the driver's library is not needed for linking: the toolkit has one that only names the symbols
    Path stubs = nvcc.resolveSibling("../lib64/stubs").normalize();
    List<String> command = new ArrayList<>(List.of(nvcc.toString(), "-O2", "-std=c++17", "-L" + stubs, "-o",
        made.toString(), copied(ProbePrograms.class, source).toString()));
    command.addAll(options);
    Process compiler = Leftovers.start(new ProcessBuilder(command).redirectErrorStream(true));
    try (InputStream printed = compiler.getInputStream()) {
      String said = new String(printed.readAllBytes(), StandardCharsets.UTF_8);
      if (compiler.waitFor() != 0) throw new IllegalStateException(String.join(" ", command) + ":\n" + said);
    } catch (InterruptedException e) {
      compiler.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
    return made;
  }

  private Path copied(Class<?> beside, String name) throws IOException {
    Path copy = folder.resolve(name);
    if (Files.exists(copy)) return copy;
    try (InputStream in = beside.getResourceAsStream(name)) {
      if (in == null) throw new IllegalStateException(name + " is not in the jar");
      Files.copy(in, copy);
    }
    return copy;
  }
}
