package dev.gatun.transfer.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.transfer.device.PeerRefusedException.Reason;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is at the other end of a socket, and whether its process has ended. */
class PeerUserTest {
  // no user of this number has a process here: the lookup makes principals of numbers too
  private static final String OTHER = "1234567";

  @TempDir
  Path folder;

  @Test
  @DisplayName("the kernel says that a peer is this user; a peer of another one is refused by type, from either end")
  void credentials() throws Exception {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(folder.resolve("s"));
    UserPrincipal other = FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(OTHER);
    assertNotEquals(PeerUser.own(), other);
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
        SocketChannel client = SocketChannel.open(address);
        SocketChannel accepted = server.accept()) {
      for (SocketChannel end : new SocketChannel[]{client, accepted}) {
        PeerUser.require(end, PeerUser.own());
        PeerRefusedException refused = assertThrows(PeerRefusedException.class, () -> PeerUser.require(end, other));
        assertEquals(Reason.OTHER_USER, refused.reason());
        assertTrue(String.valueOf(refused.getMessage()).contains(OTHER), refused.getMessage());
      }
    }
  }

  @Test
  @DisplayName("a process is known by number and start, has not ended while it runs, and has once it was killed")
  void life() throws Exception {
    PeerLife own = PeerLife.own();
    assertTrue(own.isKnown());
    assertFalse(own.hasEnded());
    PeerLife earlier = new PeerLife(own.pid(), own.startTicks() - 1);
    assertFalse(earlier.isKnown(), "the number is used again");
    assertTrue(earlier.hasEnded());
    Process child = new ProcessBuilder("sleep", "300").start();
    PeerLife childLife = Lives.of(child.pid());
    assertTrue(childLife.isKnown());
    assertFalse(childLife.hasEnded());
    child.destroyForcibly().waitFor();
    assertTrue(childLife.hasEnded());
  }
}
