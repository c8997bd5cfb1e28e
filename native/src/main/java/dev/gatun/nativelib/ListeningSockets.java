package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a process listens on, as the kernel knows it. That a port answers does not tell who answers. */
final class ListeningSockets {
  private static final String LISTEN = "0A";

  private ListeningSockets() {}

  /** Local addresses in the kernel's form, {@code 0100007F:1F90} for 127.0.0.1:8080. */
  static Set<String> of(long pid) throws IOException {
    Set<String> sockets = sockets(pid);
    Set<String> addresses = new HashSet<>();
    for (String table : List.of("tcp", "tcp6")) {
      Path file = Path.of("/proc/net", table);
      if (!Files.exists(file)) continue; // no IPv6 here
      for (String line : Files.readAllLines(file)) {
        String[] columns = line.strip().split("\\s+", -1);
        if (columns[3].equals(LISTEN) && sockets.contains("socket:[" + columns[9] + "]")) addresses.add(columns[1]);
      }
    }
    return addresses;
  }

  static boolean hasPort(long pid, int port) throws IOException {
    String ending = String.format(":%04X", port);
    return of(pid).stream().anyMatch(address -> address.endsWith(ending));
  }

  private static Set<String> sockets(long pid) throws IOException {
    Set<String> sockets = new HashSet<>();
    try (var descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (Path descriptor : descriptors.toList())
        sockets.add(Files.readSymbolicLink(descriptor).toString());
    }
    return sockets;
  }
}
