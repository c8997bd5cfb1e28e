package dev.gatun.nativelib;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;

/**
 * The two ports of a master.
 *
 * @param rpc for stores
 * @param admin for HTTP
 */
record MasterPorts(int rpc, int admin) {

  /** Free ports where {@code options} says 0; both are held until both are known, so they differ. */
  static MasterPorts choose(MasterOptions options) throws IOException {
    InetAddress host = InetAddress.getByName(options.host());
    try (ServerSocket rpc = new ServerSocket(); ServerSocket admin = new ServerSocket()) {
      if (options.rpcPort() == 0) rpc.bind(new InetSocketAddress(host, 0));
      if (options.adminPort() == 0) admin.bind(new InetSocketAddress(host, 0));
      return new MasterPorts(options.rpcPort() == 0 ? rpc.getLocalPort() : options.rpcPort(),
          options.adminPort() == 0 ? admin.getLocalPort() : options.adminPort());
    }
  }

  /** Those that somebody else listens on now, by the name of their option. */
  List<String> taken(String host) {
    return List.of("rpcPort " + rpc, "adminPort " + admin).stream()
        .filter(port -> isTaken(host, Integer.parseInt(port.substring(port.indexOf(' ') + 1)))).toList();
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
