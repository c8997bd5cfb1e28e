package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * A package file of PyPI, pinned: one version, one platform, one content. It is built for CPython 3.11, whatever Python
 * runs here, since nothing of its Python side is used.
 *
 * @param title what it holds, for messages
 * @param name of the package
 * @param version of the package
 * @param platform its platform tag
 * @param sha256 of the file
 * @param megabytes its size
 * @param command the command line that installs it
 * @param ownBuild the setting that names a build of the user's own instead
 */
record WheelPackage(String title, String name, String version, String platform, String sha256, int megabytes,
    String command, String ownBuild) {

  /** Downloads the file into the directory; what pip delivers is not trusted yet. */
  Path download(Path directory, Consumer<String> progress) throws IOException {
    requirePip();
    progress.accept("downloading " + name + " " + version + " (" + megabytes + " MB)");
    Command pip = Command.run(List.of("python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
        "--platform", platform, "--implementation", "cp", "--python-version", "3.11", "--abi", "cp311",
        "--disable-pip-version-check", "--dest", directory.toString(), name + "==" + version), Duration.ofMinutes(10));
    List<Path> wheels = wheels(directory);
    if (pip.code() == 0 && wheels.size() == 1) return wheels.getFirst();
    throw new LibraryUnavailableException(
        "pip could not download " + name + " " + version + ":\n" + Command.tail(pip.output(), 5), List.of(),
        "give this machine access to PyPI, or copy the file here and: " + command + " --from FILE");
  }

  /** Refuses any file but the pinned one. */
  void requirePinned(Path file) throws IOException {
    String found = Files.isRegularFile(file) ? Hash.sha256Hex(file) : "no such file";
    if (found.equals(sha256)) return;
    throw new LibraryUnavailableException("package file is not the pinned one: " + file + "\n  SHA-256 expected "
        + sha256 + "\n  SHA-256 found    " + found, List.of(),
        "the file of " + name + " " + version + " for cp311, x86-64, from PyPI");
  }

  /** Refuses machines that the file was not built for. */
  void requirePlatform(String system, String machine) {
    if (system.equals("Linux") && machine.equals("amd64")) return;
    throw new LibraryUnavailableException(
        "the packaged " + title + " runs on Linux x86-64 only, this is " + system + " " + machine, List.of(),
        "build " + title + " for this machine and set " + ownBuild);
  }

  private static void requirePip() {
    try {
      if (Command.run(List.of("python3", "-m", "pip", "--version"), Duration.ofSeconds(60)).code() == 0) return;
      throw new LibraryUnavailableException("python3 has no pip", List.of(), "apt-get install python3-pip");
    } catch (IOException e) {
      throw new LibraryUnavailableException("python3 is not installed", List.of("python3 on PATH: not there"),
          "apt-get install python3 python3-pip", e);
    }
  }

  private static List<Path> wheels(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".whl")).toList();
    }
  }
}
