package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/** The port at which a master takes its clients' calls. */
final class MasterPort {
  // 5 s: far above a round trip, and below the minutes after which a system gives up with the error of a refusal
  private static final int CONNECT_MILLIS_MAX = 5_000;

  private MasterPort() {}

  /**
   * {@return whether it refuses a connection now: nobody listens, and what was sent there before is forgotten} Whatever
   * else happens, somebody may have it yet. Blocks, to the deadline.
   *
   * @param master {@code host:port}; anything else, such as a coordination service, never refuses
   */
  static boolean refuses(String master, Deadline deadline) {
    try (Socket socket = new Socket()) {
      HostPort address = HostPort.parse("master", master, HostPort.NO_PORT);
      if (address.port() == HostPort.NO_PORT) return false;
      int millis = Math.clamp(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1, CONNECT_MILLIS_MAX);
      socket.connect(new InetSocketAddress(address.host(), address.port()), millis);
      return false;
    } catch (ConnectException refused) {
      return true;
    } catch (IOException | IllegalArgumentException unclear) {
      return false;
    }
  }
}
