package dev.gatun.cli.bundle;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Another platform that an archive is made for: its runtime is linked from its own JDK's modules, the native libraries are
 * cross-compiled from the checkout's sources, and jars with native code of this platform give way to its own.
 */
public final class ForeignTarget {
  /** Platforms that archives are made for. */
  public static final List<String> PLATFORMS = List.of("linux-x86_64", "linux-aarch64");
  private static final String CROSS_BUILT = "linux-aarch64";
  // what gatun-native packs, as its pom has them
  private static final List<String> TARGETS = List.of("gatun_loopback", "gatun_marker", "gatun_verbs");

  private final TargetJdk jdk;
  private final Path sources;
  private final List<Path> jars;

  private ForeignTarget(TargetJdk jdk, Path sources, List<Path> jars) {
    this.jdk = jdk;
    this.sources = sources;
    this.jars = jars;
  }

  /** {@return this platform, in the form of {@link #PLATFORMS}} */
  public static String here() {
    return "linux-" + System.getProperty("os.arch", "unknown").replace("amd64", "x86_64");
  }

  /**
   * Looks at what is needed for another platform.
   *
   * @param platform one of {@link #PLATFORMS}, not this one
   * @param jdk home of a JDK of it, with its jmods
   * @param sources the folder {@code native} of the checkout
   * @param jars jars with native code of that platform, in place of those named {@code -natives-}; may be empty
   * @return the target
   * @throws CommandException if the JDK is not what it must be, or there is no cross build for the platform
   */
  public static ForeignTarget of(String platform, Path jdk, Path sources, List<Path> jars) {
    if (!platform.equals(CROSS_BUILT)) {
      throw new CommandException(ExitCode.USAGE, "--target " + platform + " must be made on such a machine: only "
          + CROSS_BUILT + " is cross-compiled");
    }
    TargetJdk found = TargetJdk.of(jdk, platform);
    if (!Files.exists(sources.resolve("CMakeLists.txt"))) {
      throw new CommandException(ExitCode.UNAVAILABLE,
          "the native libraries' sources are not there (" + sources + "): run ./gatun bundle in a checkout");
    }
    return new ForeignTarget(found, sources, List.copyOf(jars));
  }

  /** Options of {@code jlink} for it. Symbols that lie beside the native code, most of some JDKs' modules, stay out. */
  List<String> linkOptions() {
    return List.of("--module-path", jdk.jmods().toString(), "--strip-java-debug-attributes",
        "--exclude-files=**.debuginfo");
  }

  /** {@return jars without those that have native code of this platform, and with its own} */
  List<Path> replaced(List<Path> all) {
    Stream<Path> kept = all.stream().filter(jar -> !jar.getFileName().toString().contains("-natives-"));
    return Stream.concat(kept, jars.stream()).toList();
  }

  /** Compiles the native libraries into a folder, and puts them into the one of some modules that has this platform's. */
  void replaceNative(Path modules, Path folder) throws IOException {
    compile(folder);
    try (Stream<Path> entries = Files.list(modules)) {
      for (Path module : entries.toList()) {
        if (Files.isDirectory(module)) replaceIn(module, folder);
        else {
          try (FileSystem jar = FileSystems.newFileSystem(module)) {
            replaceIn(jar.getPath("/"), folder);
          }
        }
      }
    }
  }

  private void compile(Path folder) {
    String advice = "sudo apt-get install -y cmake ninja-build g++-aarch64-linux-gnu";
    Tool.run("cmake", List.of("-S", sources.toString(), "-B", folder.toString(), "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_TOOLCHAIN_FILE=" + sources.resolve("cmake/aarch64.cmake")), advice);
    Tool.run("cmake", Stream.concat(Stream.of("--build", folder.toString(), "--target"), TARGETS.stream()).toList(),
        advice);
  }

  private void replaceIn(Path root, Path folder) throws IOException {
    Path host = root.resolve(here());
    if (!Files.isDirectory(host)) return;
    Folders.delete(host);
    Path place = Files.createDirectory(root.resolve(jdk.platform()));
    for (String target : TARGETS) {
      String name = "lib" + target + ".so";
      Files.copy(folder.resolve("out").resolve(name), place.resolve(name));
    }
  }
}
