package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** What is taken out of Mooncake's package, and what it lacks on a machine without Ascend. */
final class MooncakePackage {
  static final WheelPackage WHEEL = new WheelPackage("Mooncake", "mooncake-transfer-engine-npu",
      MooncakeInstaller.VERSION, "manylinux_2_35_x86_64",
      "dd846b8f71caff9b2488c7c6969ece25686f97c6c62ad38a574ca56ae0a93970", 17, "gatun mooncake install",
      "MOONCAKE_STORE_LIBRARY=/path/to/libmooncake_store.so");
  private static final String FOLDER = "mooncake/";
  private static final List<String> ROOTS = List.of(MooncakeRuntime.STORE, MooncakeRuntime.ENGINE,
      MooncakeRuntime.MASTER);
  // Brings a Go runtime, which replaces the JVM's SIGSEGV, SIGBUS, SIGFPE and SIGPIPE handlers when it is loaded. Only
  // metadata and high availability through etcd need it, so a stand-in takes its place.
  private static final String LEFT_OUT = "libetcd_wrapper.so";

  private MooncakePackage() {}

  /** Takes the libraries and the master, makes the stand-ins, and sees the master start. */
  static void take(Path wheel, Path directory, Consumer<String> progress) throws IOException {
    Map<String, ElfFile> unpacked = new WheelFiles(directory, FOLDER, List.of(FOLDER)).unpack(wheel,
        ROOTS.stream().map(FOLDER::concat).toList());
    progress.accept("compiling stand-ins for the Ascend runtime and the etcd client");
    completeWithStandIns(directory, unpacked);
    checkMaster(directory);
  }

  /** Makes a function for every symbol that neither the package nor the system defines. */
  private static void completeWithStandIns(Path directory, Map<String, ElfFile> unpacked) throws IOException {
    ElfFile leftOut = unpacked.remove(LEFT_OUT);
    if (leftOut == null) throw new IOException("package has no " + LEFT_OUT);
    Files.delete(directory.resolve(LEFT_OUT));
    Set<String> undefined = new TreeSet<>();
    unpacked.values().forEach(elf -> undefined.addAll(elf.undefined()));
    unpacked.values().forEach(elf -> undefined.removeAll(elf.defined()));
    List<String> systemNeeds = new ArrayList<>(WheelFiles.systemNeeds(unpacked));
    systemNeeds.removeAll(MooncakeRuntime.STAND_INS);
    systemNeeds.remove(LEFT_OUT);
    SystemLibraries system = SystemLibraries.require(systemNeeds);
    undefined.removeIf(system::defines);

    Set<String> etcd = new TreeSet<>(undefined);
    etcd.retainAll(leftOut.defined());
    undefined.removeAll(etcd);
    StandIn.compile(directory, LEFT_OUT, etcd);
    StandIn.compile(directory, MooncakeRuntime.STAND_INS.getFirst(), undefined);
    for (String empty : MooncakeRuntime.STAND_INS.subList(1, MooncakeRuntime.STAND_INS.size())) {
      StandIn.compile(directory, empty, List.of());
    }
  }

  /** The master is linked so that it starts only when nothing is missing: starting it proves the set complete. */
  private static void checkMaster(Path directory) throws IOException {
    Command master = Command.run(List.of(directory.resolve(MooncakeRuntime.MASTER).toString(), "--version"),
        Duration.ofSeconds(60));
    if (master.code() == 0) return;
    String reason = Command.tail(master.output(), 5);
    throw new LibraryUnavailableException("the unpacked master does not start: " + reason, List.of(),
        DynamicLoader.fixFor(reason));
  }
}
