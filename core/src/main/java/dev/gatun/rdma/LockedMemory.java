package dev.gatun.rdma;

import dev.gatun.backend.ByteSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How much memory this process may lock. Whatever is registered with an RDMA device is locked, once for each device.
 *
 * @param limitBytes the limit, {@link Long#MAX_VALUE} if there is none or it is unknown
 * @param pinnedBytes what drivers have locked for this process already
 * @param privileged whether the process has {@code CAP_IPC_LOCK}, which lifts the limit except in a user namespace
 */
public record LockedMemory(long limitBytes, long pinnedBytes, boolean privileged) {
  /** How the limit is raised. */
  public static final String FIX = "ulimit -l unlimited, LimitMEMLOCK=infinity in the unit, --ulimit memlock=-1 of the "
      + "container";

  private static final String LIMIT = "Max locked memory";
  private static final String PINNED = "VmPin:";
  private static final String CAPABILITIES = "CapEff:";
  private static final int CAP_IPC_LOCK = 14;
  private static final Path PROCESS = Path.of("/proc/self");

  /** {@return what holds for this process now, read from the kernel; blocks no longer than that} */
  public static LockedMemory read() {
    return parse(lines("limits"), lines("status"));
  }

  static LockedMemory parse(List<String> limits, List<String> status) {
    String soft = field(limits, LIMIT);
    String pinned = field(status, PINNED);
    String capabilities = field(status, CAPABILITIES);
    return new LockedMemory(soft.matches("\\d{1,18}") ? Long.parseLong(soft) : Long.MAX_VALUE,
        pinned.matches("\\d{1,15}") ? Long.parseLong(pinned) << 10 : 0,
        capabilities.matches("[0-9a-f]{1,16}")
            && (Long.parseUnsignedLong(capabilities, 16) >> CAP_IPC_LOCK & 1) == 1);
  }

  /** {@return whether there is no limit} */
  public boolean isUnlimited() {
    return limitBytes == Long.MAX_VALUE;
  }

  /**
   * {@return whether the limit, privileges apart, leaves room for more}
   *
   * @param bytes how much more, 0 or more
   * @param times how often it is locked, 1 or more
   */
  public boolean hasRoom(long bytes, int times) {
    return isUnlimited() || (pinnedBytes <= limitBytes && bytes <= (limitBytes - pinnedBytes) / times);
  }

  /**
   * {@return whether the kernel is certain to refuse to lock more}
   *
   * @param bytes how much more, 0 or more
   */
  public boolean forbids(long bytes) {
    return !privileged && !hasRoom(bytes, 1);
  }

  /** {@return it in words, such as {@code limited to 8 MiB}} */
  public String describe() {
    if (isUnlimited()) return "unlimited";
    return "limited to " + ByteSize.format(limitBytes) + (pinnedBytes > 0
        ? ", " + ByteSize.format(pinnedBytes)
            + " locked"
        : "") + (privileged ? ", lifted by CAP_IPC_LOCK" : "");
  }

  /** The first word behind a label at the start of a line; empty if no line has it. */
  private static String field(List<String> lines, String label) {
    return lines.stream().filter(line -> line.startsWith(label))
        .map(line -> line.substring(label.length()).strip().replaceAll("\\s.*", "")).findFirst().orElse("");
  }

  private static List<String> lines(String file) {
    try {
      return Files.readAllLines(PROCESS.resolve(file));
    } catch (IOException unknown) {
      return List.of();
    }
  }
}
