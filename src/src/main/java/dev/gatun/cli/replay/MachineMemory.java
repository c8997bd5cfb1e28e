package dev.gatun.cli.replay;

import dev.gatun.memory.MemoryBudget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Memory that this process may still use, by the kernel's and the container's account. */
final class MachineMemory {
  private MachineMemory() {}

  /** {@return bytes, {@link Long#MAX_VALUE} where nobody says} */
  static long availableBytes() {
    return Math.min(kernel(), Math.min(container(), MemoryBudget.process().capBytes()));
  }

  private static long kernel() {
    for (String line : lines(Path.of("/proc/meminfo"))) {
      if (line.startsWith("MemAvailable:")) return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }
    return Long.MAX_VALUE;
  }

  private static long container() {
    long limit = number(Path.of("/sys/fs/cgroup/memory.max"));
    long used = number(Path.of("/sys/fs/cgroup/memory.current"));
    return limit < 0 || used < 0 ? Long.MAX_VALUE : Math.max(0, limit - used);
  }

  private static long number(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() || !lines.getFirst().matches("\\d{1,18}") ? -1 : Long.parseLong(lines.getFirst());
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException absent) {
      return List.of();
    }
  }
}
