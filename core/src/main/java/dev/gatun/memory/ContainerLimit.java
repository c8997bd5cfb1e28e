package dev.gatun.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How much memory this process may use before the kernel kills it. */
final class ContainerLimit {
  private static final Path ROOT = Path.of("/sys/fs/cgroup");

  private ContainerLimit() {}

  /** {@return the lowest limit of the control groups above this process, the machine's memory if there is none} */
  static long bytes() {
    return bytes(ROOT, Path.of("/proc/self/cgroup"), Path.of("/proc/meminfo"));
  }

  static long bytes(Path root, Path membership, Path meminfo) {
    long limit = machineBytes(meminfo);
    for (String line : lines(membership)) {
      String[] fields = line.split(":", 3);
      if (fields.length < 3) continue;
      boolean second = fields[1].isEmpty();
      if (!second && !List.of(fields[1].split(",")).contains("memory")) continue;
      Path top = second ? root : root.resolve("memory");
      String file = second ? "memory.max" : "memory.limit_in_bytes";
      // a namespaced container sees its own group as the top, whatever path is named
      limit = Math.min(limit, number(top.resolve(file)));
      for (Path group : upTo(top, fields[2]))
        limit = Math.min(limit, number(group.resolve(file)));
    }
    return limit;
  }

  /** The group of that name and those above it; none if the locale has no letters for its name. */
  private static List<Path> upTo(Path top, String name) {
    List<Path> groups = new ArrayList<>();
    try {
      Path group = top.resolve(name.substring(Math.min(1, name.length()))).normalize();
      while (group != null && group.startsWith(top)) {
        groups.add(group);
        group = group.getParent();
      }
    } catch (InvalidPathException unnameable) {
      return List.of();
    }
    return groups;
  }

  private static long machineBytes(Path meminfo) {
    for (String line : lines(meminfo)) {
      if (line.startsWith("MemTotal:")) return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
    }
    return Long.MAX_VALUE;
  }

  private static long number(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() || !lines.getFirst().matches("\\d{1,18}")
        ? Long.MAX_VALUE
        : Long.parseLong(lines.getFirst());
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of(); // no such control group: no such limit
    }
  }
}
