package dev.gatun.transfer.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** When processes began, read anew. */
final class Lives {
  private Lives() {}

  /** {@return a process that runs} */
  static PeerLife of(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    return new PeerLife(pid, Long.parseLong(stat.replaceFirst("^.*\\) ", "").split(" ", -1)[19]));
  }
}
