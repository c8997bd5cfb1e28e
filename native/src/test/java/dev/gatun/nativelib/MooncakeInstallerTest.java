package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("mooncake")
class MooncakeInstallerTest {
  @TempDir
  static Path shared;
  private static Path wheel = Path.of("");

  @TempDir
  Path directory;
  private final List<String> steps = new ArrayList<>();

  @BeforeAll
  static void downloadOnce() throws IOException {
    wheel = MooncakePackage.WHEEL.download(shared, step -> {});
  }

  private MooncakeRuntime install() {
    return MooncakeInstaller.install(cache(), wheel, steps::add);
  }

  private Path cache() {
    return CacheDirectory.owned(directory.resolve("cache"));
  }

  @Test
  @DisplayName("the package that pip delivers is the pinned one")
  void pinned() throws IOException {
    assertEquals(MooncakePackage.WHEEL.sha256(), Hash.sha256Hex(wheel));
  }

  @Test
  @DisplayName("an installation has all libraries, the master, and every symbol that they want")
  void complete() throws IOException {
    MooncakeRuntime runtime = install();

    for (Path library : runtime.libraries())
      assertTrue(Files.isRegularFile(library), library::toString);
    assertEquals(5, runtime.libraries().size());
    assertTrue(Files.isExecutable(runtime.masterProgram()));
    ElfFile store = ElfFile.read(runtime.storeLibrary());
    ElfFile engine = ElfFile.read(runtime.engineLibrary());
    assertEquals(19, store.defined().stream().filter(name -> name.startsWith("mooncake_store_")).count());
    assertTrue(engine.defined().contains("createTransferEngine"));
    ElfFile standIn = ElfFile.read(runtime.root().resolve("libascendcl.so"));
    assertTrue(standIn.defined().contains("aclrtGetDeviceCount"));
    ElfFile etcd = ElfFile.read(runtime.root().resolve("libetcd_wrapper.so"));
    assertTrue(etcd.defined().contains("NewEtcdClient"));
    assertFalse(standIn.defined().contains("NewEtcdClient"));
  }

  @Test
  @DisplayName("a second installation does nothing; a damaged one is found and replaced")
  void damage() throws IOException {
    MooncakeRuntime first = install();
    steps.clear();
    assertEquals(first.root(), install().root());
    assertEquals(List.of(), steps);

    Path asio = first.root().resolve("libasio.so");
    byte[] bytes = Files.readAllBytes(asio);
    bytes[bytes.length / 2] ^= 1;
    Files.write(asio, bytes);
    assertEquals(Optional.empty(), MooncakeRuntime.in(first.root(), MooncakeInstaller.VERSION));
    install();
    assertFalse(steps.isEmpty());
    assertTrue(MooncakeRuntime.in(first.root(), MooncakeInstaller.VERSION).isPresent());
  }

  @Test
  @DisplayName("what an interrupted installation left is removed and not trusted")
  void interrupted() throws IOException {
    Path parent = CacheDirectory.owned(cache().resolve("mooncake"));
    Path unfinished = Files.createDirectory(parent.resolve(".unfinished-1"));
    Files.writeString(unfinished.resolve("libasio.so"), "half");
    Path unsealed = Files.createDirectory(MooncakeInstaller.directory(cache()));
    Files.writeString(unsealed.resolve(MooncakeRuntime.STORE), "half");

    MooncakeRuntime runtime = install();

    assertTrue(Files.size(runtime.storeLibrary()) > 1000);
    try (Stream<Path> entries = Files.list(parent)) {
      assertEquals(List.of(".lock", runtime.root().getFileName().toString()),
          entries.map(entry -> entry.getFileName().toString()).sorted().toList());
    }
  }

  @Test
  @DisplayName("installations at the same time, in threads and processes, do the work once")
  void concurrent() throws Exception {
    AtomicInteger installations = new AtomicInteger();
    Callable<Path> thread = () -> MooncakeInstaller.install(cache(), wheel, step -> count(step, installations)).root();
    Callable<Path> process = () -> {
      var child = ChildJvm.granted().flag("-Dgatun.cache.dir=" + cache()).run("install", wheel.toString());
      child.out().lines().forEach(step -> count(step, installations));
      return Path.of(child.value("root"));
    };
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (Future<Path> done : threads.invokeAll(List.of(process, thread, thread, process))) {
        assertEquals(MooncakeInstaller.directory(cache()), done.get());
      }
    }
    assertEquals(1, installations.get());
  }

  private static void count(String step, AtomicInteger installations) {
    if (step.contains("installed ")) installations.incrementAndGet();
  }

  @Test
  @DisplayName("another package file is refused with both checksums, and nothing is left of it")
  void otherFile() throws IOException {
    Path other = Files.writeString(directory.resolve("other.whl"), "other");

    var refused = assertThrows(LibraryUnavailableException.class,
        () -> MooncakeInstaller.install(cache(), other, steps::add));

    assertTrue(refused.getMessage().contains(MooncakePackage.WHEEL.sha256()), refused.getMessage());
    assertTrue(refused.getMessage().contains(Hash.sha256Hex(other)), refused.getMessage());
    assertTrue(Files.exists(other));
    assertFalse(Files.exists(MooncakeInstaller.directory(cache())));
  }

  @Test
  @DisplayName("other machines are told what to do instead")
  void otherMachine() {
    var refused = assertThrows(LibraryUnavailableException.class,
        () -> MooncakePackage.WHEEL.requirePlatform("Linux", "aarch64"));

    assertTrue(refused.fix().contains("MOONCAKE_STORE_LIBRARY"), refused.fix());
  }

  @Test
  @DisplayName("without Python, pip or a compiler, the message says which and the line to type")
  void missingTools() throws IOException {
    Path bin = Files.createDirectory(directory.resolve("bin"));

    assertFailed("apt-get install python3 python3-pip", install(bin));
    Path python = Files.writeString(bin.resolve("python3"), "#!/bin/sh\nexit 1\n");
    assertTrue(python.toFile().setExecutable(true));
    assertFailed("apt-get install python3-pip", install(bin));
    assertFailed("apt-get install gcc binutils", install(bin, wheel.toString()));
  }

  @Test
  @DisplayName("without network, the message ends with pip's words and how to install from a file")
  void noNetwork() throws IOException {
    Path bin = Files.createDirectory(directory.resolve("bin"));
    Path python = Files.writeString(bin.resolve("python3"),
        "#!/bin/sh\n[ \"$3\" = --version ] && exit 0\necho no route to host\nexit 1\n");
    assertTrue(python.toFile().setExecutable(true));

    var child = install(bin);

    assertTrue(child.value("failed").contains("no route to host"), child::toString);
    assertFailed("gatun mooncake install --from FILE", child);
  }

  private ChildJvm.Ended install(Path bin, String... wheel) {
    List<String> arguments = new ArrayList<>(List.of("install"));
    arguments.addAll(List.of(wheel));
    return ChildJvm.granted().flag("-Dgatun.cache.dir=" + cache()).environment("PATH", bin.toString())
        .run(arguments.toArray(String[]::new));
  }

  private static void assertFailed(String fix, ChildJvm.Ended child) {
    assertTrue(child.value("failed").endsWith(fix), child::toString);
  }
}
