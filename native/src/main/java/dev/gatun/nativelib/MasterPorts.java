package dev.gatun.nativelib;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * The two ports of a master.
 *
 * @param rpc for stores
 * @param admin for HTTP
 */
record MasterPorts(int rpc, int admin) {

  /**
   * Free ports where {@code options} says 0, both held until both are known, so that they differ.
   *
   * @throws LibraryUnavailableException if a port that the options name is taken: a master would wait for it for long
   */
  static MasterPorts choose(MasterOptions options) throws IOException {
    if (isTaken(options.host(), 0)) {
      throw new IllegalArgumentException("host must be an address of this machine: " + options.host());
    }
    List<String> taken = new MasterPorts(options.rpcPort(), options.adminPort()).taken(options.host());
    if (!taken.isEmpty()) throw refused(taken);
    InetAddress host = InetAddress.getByName(options.host());
    try (ServerSocket rpc = new ServerSocket(); ServerSocket admin = new ServerSocket()) {
      if (options.rpcPort() == 0) rpc.bind(new InetSocketAddress(host, 0));
      if (options.adminPort() == 0) admin.bind(new InetSocketAddress(host, 0));
      return new MasterPorts(options.rpcPort() == 0 ? rpc.getLocalPort() : options.rpcPort(),
          options.adminPort() == 0 ? admin.getLocalPort() : options.adminPort());
    }
  }

  static LibraryUnavailableException refused(List<String> taken) {
    return new LibraryUnavailableException("taken by another process: " + String.join(", ", taken), List.of(),
        "choose another port, or 0 for a free one");
  }

  /** Those that somebody else listens on now, by the name of their option; 0 is never taken. */
  List<String> taken(String host) {
    List<String> taken = new ArrayList<>();
    if (isTaken(host, rpc)) taken.add("rpcPort " + rpc);
    if (isTaken(host, admin)) taken.add("adminPort " + admin);
    return taken;
  }

  private static boolean isTaken(String host, int port) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true); // as the master does: connections in TIME_WAIT are no obstacle
      probe.bind(new InetSocketAddress(host, port));
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
