package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** The port at which a master takes its clients' calls. */
final class MasterPort {
  private MasterPort() {}

  /**
   * {@return whether it refuses a connection now: nobody listens, and what was sent there before is forgotten} Whatever
   * else happens, somebody may have it yet. Blocks, to the deadline.
   *
   * @param master {@code host:port}; anything else, such as a coordination service, never refuses
   */
  static boolean refuses(String master, Deadline deadline) {
    try (Socket socket = new Socket()) {
      URI address = URI.create("tcp://" + master);
      if (address.getHost() == null || address.getPort() <= 0 || address.getPort() > 65_535) return false;
      long millis = Math.clamp(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1, Integer.MAX_VALUE);
      socket.connect(new InetSocketAddress(address.getHost(), address.getPort()), Math.toIntExact(millis));
      return false;
    } catch (ConnectException refused) {
      return true;
    } catch (IOException | IllegalArgumentException unclear) {
      return false;
    }
  }
}
