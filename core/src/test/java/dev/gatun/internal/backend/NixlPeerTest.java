package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the library would free under requests in flight, it is not made to free. */
class NixlPeerTest {
  private final Arena arena = Arena.ofConfined();
  private final List<String> calls = new ArrayList<>();
  private boolean refuseAdding;

  /** Metadata of these tests is the name that it bears, and a version after a space. */
  private final NixlPeer.Link link = new NixlPeer.Link() {
    @Override
    public String load(String name, byte[] metadata) {
      String text = new String(metadata, StandardCharsets.US_ASCII);
      boolean adding = calls.stream().filter(call -> call.startsWith("load")).count() > calls.stream()
          .filter(call -> call.startsWith("forget")).count();
      if (adding && refuseAdding) throw new EngineException("openSegment", EngineCode.BACKEND, -2, name);
      calls.add("load " + text);
      return text.substring(0, text.indexOf(' '));
    }

    @Override
    public void forget(String name) {
      calls.add("forget " + name);
    }
  };

  @AfterEach
  void close() {
    arena.close();
  }

  private NixlPeer peer(String name, boolean own) {
    return new NixlPeer(link, 0, name, own, other -> other.equals("C"), arena);
  }

  private static SegmentDescriptor descriptor(String metadata, long... addresses) {
    List<MemoryRange> ranges = new ArrayList<>();
    for (long address : addresses)
      ranges.add(new MemoryRange(address, 4096, MemoryRange.ANYWHERE));
    return new SegmentDescriptor(EngineOptions.NIXL, "B", metadata.getBytes(StandardCharsets.US_ASCII), ranges);
  }

  @Test
  @DisplayName("what was registered in addition is added, also while requests are in flight; the same again does nothing")
  void adds() {
    NixlPeer peer = peer("B", false);
    peer.describe(descriptor("B 1", 4096));
    peer.begin();
    peer.describe(descriptor("B 1", 4096));
    peer.describe(descriptor("B 2", 4096, 8192));
    assertEquals(List.of("load B 1", "load B 2"), calls);
    assertEquals(1, peer.ranges().find(8192, 4096));
  }

  @Test
  @DisplayName("a range less, or another process under the old name, takes a new connection, refused while requests are in flight")
  void replaces() {
    NixlPeer peer = peer("B", false);
    peer.describe(descriptor("B 1", 4096, 8192));
    peer.begin();
    EngineException busy = assertThrows(EngineException.class, () -> peer.describe(descriptor("B 2", 4096)));
    assertEquals(EngineCode.NOT_ALLOWED, busy.code());
    assertEquals(1, peer.ranges().find(8192, 4096), "nothing has changed");
    peer.end(false);
    peer.describe(descriptor("B 2", 4096));
    assertEquals(List.of("load B 1", "forget B", "load B 2"), calls);

    refuseAdding = true;
    peer.describe(descriptor("B 3", 4096));
    assertEquals(List.of("load B 1", "forget B", "load B 2", "forget B", "load B 3"), calls);
  }

  @Test
  @DisplayName("after a failure nothing goes over the connection, which is closed once nothing is in flight; only then has it ended")
  void reconnects() {
    NixlPeer peer = peer("B", false);
    peer.describe(descriptor("B 1", 4096));
    peer.begin();
    peer.begin();
    int failed = peer.end(true);
    assertFalse(peer.isClosed(failed));
    EngineException refused = assertThrows(EngineException.class, peer::begin);
    assertEquals(EngineCode.NOT_ALLOWED, refused.code());
    assertEquals(List.of("load B 1"), calls);
    peer.end(false);
    assertTrue(peer.isClosed(failed));
    peer.begin();
    assertFalse(peer.isClosed(peer.end(false)));
    peer.begin();
    assertEquals(List.of("load B 1", "forget B", "load B 1"), calls);
  }

  @Test
  @DisplayName("a closed segment is forgotten unless it is in use, and a later request connects again")
  void disconnects() {
    NixlPeer peer = peer("B", false);
    peer.describe(descriptor("B 1", 4096));
    peer.begin();
    peer.disconnect();
    assertEquals(List.of("load B 1"), calls);
    peer.end(false);
    peer.disconnect();
    peer.disconnect();
    peer.begin();
    assertEquals(List.of("load B 1", "forget B", "load B 1"), calls);
  }

  @Test
  @DisplayName("metadata of another agent is refused and taken back, unless that agent is a peer itself")
  void otherName() {
    NixlPeer peer = peer("B", false);
    EngineException stranger = assertThrows(EngineException.class, () -> peer.describe(descriptor("X 1", 4096)));
    assertTrue(String.valueOf(stranger.getMessage()).contains("that of X"), stranger.getMessage());
    assertThrows(EngineException.class, () -> peer.describe(descriptor("C 1", 4096)));
    assertThrows(EngineException.class, () -> peer.describe(descriptor("", 4096)));
    assertEquals(List.of("load X 1", "forget X", "load C 1"), calls);
  }

  @Test
  @DisplayName("an agent knows itself from the start")
  void own() {
    NixlPeer self = peer("B", true);
    self.describe(descriptor("B 1", 4096));
    self.begin();
    assertTrue(self.isClosed(self.end(true)));
    self.begin();
    self.disconnect();
    assertEquals(List.of(), calls);
    assertEquals(0, self.ranges().find(4096, 4096));
  }
}
