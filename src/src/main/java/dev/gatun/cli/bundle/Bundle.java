package dev.gatun.cli.bundle;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.Leftovers;
import dev.gatun.nativelib.MooncakeRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What goes into the archive: a Java runtime of the modules that Gatun needs, the command's and the benchmarks' jars (the
 * native libraries are in them), and the real Mooncake where it is wanted.
 *
 * @param jdk home of the JDK whose {@code jlink} makes the runtime, and which becomes the runtime
 * @param modules the command's modules, jars or folders of classes
 * @param benchmarks jars of the benchmarks; those that the command has too are not packed twice; may be empty
 * @param mooncake the runtime to pack
 * @param version names the folder in the archive
 * @param commit what it was built from, for reports
 * @param target another platform that it is for, if not this one
 */
public record Bundle(Path jdk, List<Path> modules, List<Path> benchmarks, Optional<MooncakeRuntime> mooncake,
    String version, String commit, Optional<ForeignTarget> target) {
  /**
   * What Gatun and its dependencies need: {@code jdk.httpserver} and {@code jdk.jcmd} for looking into a running process,
   * {@code jdk.unsupported} for Agrona and LWJGL, the rest by their module descriptors and JMH's.
   */
  private static final String JAVA_MODULES = "java.base,java.logging,java.management,java.net.http,java.xml,jdk.jfr,"
      + "jdk.management,jdk.unsupported,jdk.httpserver,jdk.jcmd,jdk.net";

  /**
   * Writes the archive, through a temporary folder beside it. Blocks for a minute or two, most of it in {@code xz}.
   *
   * @param archive a file that does not exist, in a folder that does
   * @throws CommandException if a tool is missing or fails; nothing is left behind
   */
  public void writeTo(Path archive) {
    Path folder = Leftovers.temporary(archive.resolveSibling(archive.getFileName() + ".parts"));
    Path part = Leftovers.temporary(archive.resolveSibling(archive.getFileName() + ".part"));
    try {
      Path root = Files.createDirectory(folder).resolve("gatun-" + version);
      fill(Files.createDirectory(root), folder.resolve("native"));
      // level 6: level 9 makes it 2 % smaller and takes three times as long
      Tool.run("tar", List.of("--create", "--file", part.toString(), "--use-compress-program", "xz -6 -T0", "--owner=0",
          "--group=0", "--numeric-owner", "--directory", folder.toString(), root.getFileName().toString()),
          "sudo apt-get install -y tar xz-utils");
      Files.move(part, archive);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      clean(folder);
      clean(part);
    }
  }

  private static void clean(Path path) {
    try {
      Leftovers.delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void fill(Path root, Path nativeBuild) throws IOException {
    List<String> link = new ArrayList<>(target.map(ForeignTarget::linkOptions).orElse(List.of("--strip-debug")));
    link.addAll(List.of("--add-modules", JAVA_MODULES, "--no-header-files", "--no-man-pages", "--output",
        root.resolve("runtime").toString()));
    Tool.run(jdk.resolve("bin/jlink").toString(), link,
        target.isEmpty() ? "use a whole JDK 25" : "use the same release of the JDK as " + jdk + " for both platforms");
    Path own = Files.createDirectory(root.resolve("modules"));
    copy(modules, own);
    List<Path> shared = modules.stream().map(Path::getFileName).toList();
    List<Path> more = benchmarks.stream().filter(jar -> !shared.contains(jar.getFileName())).toList();
    copy(target.map(foreign -> foreign.replaced(more)).orElse(more), Files.createDirectory(root.resolve("benchmarks")));
    if (target.isPresent()) target.get().replaceNative(own, nativeBuild);
    Files.writeString(root.resolve("commit"), commit + "\n");
    if (mooncake.isPresent()) {
      Path from = mooncake.get().root();
      // the place where the command looks for an installed one, below gatun.cache.dir
      Folders.copy(from, Files.createDirectories(root.resolve("cache/mooncake")).resolve(from.getFileName()));
    }
    Path bin = Files.createDirectory(root.resolve("bin"));
    script("gatun", bin);
    script("benchmark", bin);
  }

  private static void copy(List<Path> jars, Path folder) throws IOException {
    for (Path jar : jars) {
      // folders of classes are all called classes
      String name = Files.isDirectory(jar) ? jars.indexOf(jar) + "-classes" : jar.getFileName().toString();
      Folders.copy(jar, folder.resolve(name));
    }
  }

  private static void script(String name, Path bin) throws IOException {
    try (InputStream text = Bundle.class.getResourceAsStream(name + ".sh")) {
      if (text == null) throw new IllegalStateException(name + ".sh is not in the jar");
      Path script = bin.resolve(name);
      Files.copy(text, script);
      Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }

  /**
   * Requires that two sets of jars come from one build: what both have, by name, is the same, byte for byte. Otherwise figures
   * would be of other code than the commit that the archive names.
   *
   * @param modules jars, or folders of classes, which are left out
   * @param others jars
   * @param different what to say and do if one differs
   * @throws CommandException if one differs
   */
  public static void requireOneBuild(List<Path> modules, List<Path> others, String different) {
    for (Path other : others) {
      for (Path module : modules) {
        if (!Files.isRegularFile(module) || !module.getFileName().equals(other.getFileName())) continue;
        try {
          if (Files.mismatch(module, other) >= 0) throw new CommandException(ExitCode.UNAVAILABLE, different);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /**
   * {@return the jars of a folder, sorted}
   *
   * @param folder a folder
   * @param missing what to say and do if there are none
   * @throws CommandException if there are none
   */
  public static List<Path> jars(Path folder, String missing) {
    if (!Files.isDirectory(folder)) throw new CommandException(ExitCode.UNAVAILABLE, missing);
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> jars = files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
      if (jars.isEmpty()) throw new CommandException(ExitCode.UNAVAILABLE, missing);
      return jars;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
