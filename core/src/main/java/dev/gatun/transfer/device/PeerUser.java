package dev.gatun.transfer.device;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/** Who is at the other end of a Unix socket, as the kernel says ({@code SO_PEERCRED}), whatever the other end says. */
final class PeerUser {
  private PeerUser() {}

  /** {@return who this process is to its peers: the kernel is asked in the same way} */
  static UserPrincipal own() throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(null)) {
      UnixDomainSocketAddress address = (UnixDomainSocketAddress) server.getLocalAddress();
      Path file = address.getPath();
      try (SocketChannel mine = SocketChannel.open(address)) {
        return of(mine);
      } finally {
        Files.deleteIfExists(file);
      }
    }
  }

  static UserPrincipal of(SocketChannel channel) throws IOException {
    return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
  }

  /**
   * Refuses a peer of another user, before a byte of it is read.
   *
   * @throws PeerRefusedException if it is one, or the kernel does not say
   */
  static void require(SocketChannel channel, UserPrincipal expected) {
    UserPrincipal found;
    try {
      found = of(channel);
    } catch (IOException e) {
      throw new PeerRefusedException(PeerRefusedException.Reason.OTHER_USER,
          "the kernel does not say who the peer is: " + e.getMessage());
    }
    if (!found.equals(expected)) {
      throw new PeerRefusedException(PeerRefusedException.Reason.OTHER_USER,
          "peer must run as " + expected.getName() + ", whose memory it would reach: " + found.getName());
    }
  }
}
