package dev.gatun.transfer.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A process of this host, by its number and the moment it began, so that a number that is used again is not taken for it.
 *
 * @param pid its number
 * @param startTicks when it began, in ticks since the machine did
 */
record PeerLife(long pid, long startTicks) {
  // fields of /proc/N/stat behind the name, which may hold anything: state is the first, the start the 20th
  private static final int STATE = 0;
  private static final int START = 19;

  static PeerLife own() {
    long pid = ProcessHandle.current().pid();
    List<String> fields = fields(pid);
    if (fields.isEmpty()) throw new IllegalStateException("/proc does not know this process: " + pid);
    return new PeerLife(pid, Long.parseLong(fields.get(START)));
  }

  /** {@return whether there is such a process, as this one sees processes} */
  boolean isKnown() {
    List<String> fields = fields(pid);
    return !fields.isEmpty() && Long.parseLong(fields.get(START)) == startTicks;
  }

  /**
   * {@return whether the whole process has ended} What a process had open, a GPU too, is closed before it counts as ended. One
   * whose parent has not yet asked for its exit code has ended, unless threads of it are left.
   */
  boolean hasEnded() {
    List<String> fields = fields(pid);
    if (fields.isEmpty() || Long.parseLong(fields.get(START)) != startTicks) return true;
    String state = fields.get(STATE);
    return (state.equals("Z") || state.equals("X")) && isAlone();
  }

  private boolean isAlone() {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      return threads.count() <= 1;
    } catch (IOException gone) {
      return true;
    }
  }

  private static List<String> fields(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      return List.of(stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1));
    } catch (IOException none) {
      return List.of();
    }
  }

  @Override
  public String toString() {
    return "process " + pid;
  }
}
