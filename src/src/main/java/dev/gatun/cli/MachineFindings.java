package dev.gatun.cli;

import dev.gatun.rdma.LockedMemory;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What this machine has that a KV store cares about, read from the kernel's own files. */
final class MachineFindings {
  private static final Path SYS = Path.of("/sys");
  private static final Path PROC = Path.of("/proc");

  private MachineFindings() {}

  static List<Finding> all() {
    return List.of(processors(), memory(), memlock(), hugePages(), numa());
  }

  private static Finding processors() {
    return Finding.ok("processors", Runtime.getRuntime().availableProcessors() + " " + System.getProperty("os.arch"));
  }

  private static Finding memory() {
    return Finding.ok("memory", value("MemTotal") + ", available " + value("MemAvailable"));
  }

  private static Finding memlock() {
    LockedMemory limit = LockedMemory.read();
    return limit.isUnlimited()
        ? Finding.ok("memlock", limit.describe())
        : Finding.absent("memlock", limit.describe() + "; enough for TCP, RDMA registers whole slabs",
            LockedMemory.FIX);
  }

  private static Finding hugePages() {
    String reserved = value("HugePages_Total");
    String transparent = lines(SYS.resolve("kernel/mm/transparent_hugepage/enabled")).stream().findFirst()
        .orElse("unknown");
    String detail = reserved + " reserved of " + value("Hugepagesize") + ", transparent: " + transparent;
    return reserved.equals("0")
        ? Finding.absent("huge pages", detail, "sysctl vm.nr_hugepages=N for slabs on huge pages")
        : Finding.ok("huge pages", detail);
  }

  private static Finding numa() {
    List<String> nodes = names(SYS.resolve("devices/system/node"), "node[0-9]*");
    return Finding.ok("NUMA", nodes.size() <= 1 ? "one node" : nodes.size() + " nodes");
  }

  /** A value of /proc/meminfo, with its unit if it has one. */
  private static String value(String name) {
    return lines(PROC.resolve("meminfo")).stream().filter(line -> line.startsWith(name + ':'))
        .map(line -> line.substring(name.length() + 1).strip()).map(MachineFindings::readable).findFirst()
        .orElse("unknown");
  }

  private static String readable(String value) {
    if (!value.endsWith(" kB")) return value;
    long mebibytes = Long.parseLong(value.substring(0, value.length() - 3)) >> 10;
    return mebibytes == 0 ? value : mebibytes + " MiB";
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException absent) {
      return List.of();
    }
  }

  private static List<String> names(Path folder, String glob) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
      for (Path entry : entries)
        names.add(entry.getFileName().toString());
    } catch (IOException absent) {
      return List.of();
    }
    names.sort(null);
    return names;
  }
}
