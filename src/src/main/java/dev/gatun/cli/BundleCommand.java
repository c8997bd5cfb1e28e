package dev.gatun.cli;

import dev.gatun.backend.ByteSize;
import dev.gatun.cli.bundle.Bundle;
import dev.gatun.cli.bundle.ForeignTarget;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.MooncakeRuntime;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gatun bundle}. */
@Command(name = "bundle", description = {
    "Packs Java, Gatun, its benchmarks and (with --mooncake) the real Mooncake into one archive for this platform or another,",
    "which runs on a machine with no Java and no network: unpack it anywhere, then bin/gatun and bin/benchmark."})
final class BundleCommand extends GatunCommand {
  @Option(names = "--output", paramLabel = "FILE.tar.xz", required = true, description = "the archive; must not exist yet")
  @Nullable
  Path output;

  @Option(names = "--benchmarks", negatable = true, defaultValue = "true", fallbackValue = "true", description = "the benchmarks too, which must be built; default: ${DEFAULT-VALUE}")
  boolean benchmarks;

  @Option(names = "--mooncake", description = "the installed Mooncake too")
  boolean mooncake;

  @Option(names = "--target", paramLabel = "PLATFORM", description = "linux-x86_64 or linux-aarch64; the latter is also made elsewhere, with --jdk; default: this platform")
  String target = ForeignTarget.here();

  @Option(names = "--jdk", paramLabel = "DIR", description = "a JDK 25 of another --target, with its jmods, whose Java is packed in place of this one")
  @Nullable
  Path jdk;

  @Override
  int run() {
    Path archive = archive();
    requireTarget();
    Optional<MooncakeRuntime> runtime = mooncake ? Optional.of(MooncakeCommand.installed()) : Optional.empty();
    List<Path> modules = modules();
    List<Path> more = benchmarks ? benchmarks(modules) : List.of();
    Optional<ForeignTarget> foreign = foreign(modules);
    System.err.println("gatun: packing; xz takes about a minute");
    Map<String, Object> build = Version.map();
    new Bundle(Path.of(System.getProperty("java.home")), modules, more, runtime, build.get("gatun") + "-" + target,
        String.valueOf(build.get("commit")), foreign).writeTo(archive);
    long bytes = size(archive);
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("archive", archive.toString());
    map.put("bytes", bytes);
    map.put("target", target);
    map.put("benchmarks", benchmarks);
    map.put("mooncake", runtime.map(MooncakeRuntime::version).orElse(""));
    answer(map, """
        %s  %s
        there: tar -xf %s && gatun-*/bin/gatun doctor
        """.formatted(archive, ByteSize.format(bytes), archive.getFileName()));
    return ExitCode.OK;
  }

  private void requireTarget() {
    if (!ForeignTarget.PLATFORMS.contains(target)) {
      throw usage("--target must be one of " + String.join(", ", ForeignTarget.PLATFORMS) + ": " + target);
    }
    boolean here = target.equals(ForeignTarget.here());
    if (here && jdk != null) throw usage("--jdk is for another --target than this platform's " + target + ": " + jdk);
    if (!here && jdk == null) throw usage("--target " + target + " needs --jdk DIR, a JDK 25 of it");
    if (!here && mooncake) throw usage("--mooncake packs the one installed here, which is none for " + target);
  }

  /** What is needed for another platform; the checkout is where the command was built, as for the benchmarks. */
  private Optional<ForeignTarget> foreign(List<Path> modules) {
    if (jdk == null) return Optional.empty();
    Path root = modules.getFirst().resolveSibling("../..").normalize();
    Path natives = root.resolve("benchmarks/target/lib-" + target);
    return Optional.of(ForeignTarget.of(target, jdk.toAbsolutePath().normalize(), root.resolve("native"),
        benchmarks ? Bundle.jars(natives, "the benchmarks are not built (" + natives + ")") : List.of()));
  }

  private Path archive() {
    Path archive = output == null ? Path.of("") : output.toAbsolutePath().normalize();
    if (!archive.toString().endsWith(".tar.xz")) throw usage("--output must end in .tar.xz: " + output);
    if (Files.exists(archive, LinkOption.NOFOLLOW_LINKS)) throw usage("--output exists already: " + archive);
    Path folder = archive.getParent();
    if (folder == null || !Files.isWritable(folder) || !Files.isDirectory(folder)) {
      throw usage("--output must be in a folder that can be written to: " + archive);
    }
    return archive;
  }

  /** The modules this command runs from: jars, folders of jars, or a folder of classes in a build. */
  private static List<Path> modules() {
    List<Path> modules = new ArrayList<>();
    for (String entry : System.getProperty("jdk.module.path", "").split(File.pathSeparator, -1)) {
      if (entry.isEmpty()) continue;
      Path place = Path.of(entry).toAbsolutePath().normalize();
      if (Files.isDirectory(place) && !Files.exists(place.resolve("module-info.class")))
        modules.addAll(Bundle.jars(place, "no jars in " + place));
      else
        modules.add(place);
    }
    if (modules.isEmpty()) {
      throw new CommandException(ExitCode.UNAVAILABLE,
          "bundle packs the modules it runs from: run it as ./gatun bundle");
    }
    return modules;
  }

  /** Beside the command's jar lies the checkout it was built in: src/target/gatun-cli-*.jar. */
  private static List<Path> benchmarks(List<Path> modules) {
    Path lib = modules.getFirst().resolveSibling("../../benchmarks/target/lib").normalize();
    String remedy = " (" + lib + "): run mvn -q -pl benchmarks -am package -DskipTests in the checkout, or leave them "
        + "out with --no-benchmarks";
    List<Path> jars = Bundle.jars(lib, "the benchmarks are not built" + remedy);
    Bundle.requireOneBuild(modules, jars, "the benchmarks are of another build than the command" + remedy);
    return jars;
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
