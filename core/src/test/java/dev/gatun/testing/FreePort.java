package dev.gatun.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** A port of loopback that nobody listens on. */
public final class FreePort {
  private FreePort() {}

  /** {@return one that was free just now; another process may take it first} */
  public static int find() {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
