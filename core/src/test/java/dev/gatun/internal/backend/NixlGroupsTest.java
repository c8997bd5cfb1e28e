package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferRequests;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class NixlGroupsTest {
  private static final int READ = TransferRequests.READ;
  private static final int WRITE = TransferRequests.WRITE;

  private final Arena arena = Arena.ofConfined();
  private final NixlRanges local = NixlRanges
      .of(List.of(new MemoryRange(0x1000, 0x1000, "*"), new MemoryRange(0x10000, 0x1000, "cuda:3")));
  private final NixlPeer[] peers = {peer("B", "*", "cuda:5"), peer("C", "*", "cuda:5"), peer("D")};
  private final TransferRequests requests = new TransferRequests(8, arena);
  private final NixlGroups groups = new NixlGroups(8);

  @AfterEach
  void close() {
    arena.close();
  }

  private NixlPeer peer(String name, String... locations) {
    NixlPeer peer = new NixlPeer(new NixlPeer.Link() {
      @Override
      public String load(String loaded, byte[] metadata) {
        return loaded;
      }

      @Override
      public void forget(String forgotten) {}
    }, 0, name, false, other -> false, arena);
    List<MemoryRange> ranges = new ArrayList<>();
    for (String location : locations)
      ranges.add(new MemoryRange(0x1000L + 0x10000L * ranges.size(), 0x1000, location));
    peer.describe(new SegmentDescriptor(EngineOptions.NIXL, name, new byte[]{1}, ranges));
    return peer;
  }

  private void sort() {
    groups.sort(requests, local, segment -> peers[segment]);
  }

  private List<Integer> rows(int group) {
    List<Integer> rows = new ArrayList<>();
    for (int row = groups.firstRow(group); row >= 0; row = groups.nextRow(row))
      rows.add(row);
    assertEquals(groups.rows(group), rows.size());
    return rows;
  }

  @Test
  @DisplayName("one native request for each direction, peer and pair of memories; host and GPU rows carry kind and device")
  void sorts() {
    requests.add(READ, 0x1000, 0, 0x1000, 16);
    requests.add(WRITE, 0x1010, 0, 0x1010, 16);
    requests.add(READ, 0x1020, 1, 0x1020, 16);
    requests.add(READ, 0x10000, 0, 0x1030, 16);
    requests.add(READ, 0x1030, 0, 0x11000, 16);
    requests.add(READ, 0x1040, 0, 0x1040, 16);
    sort();
    assertEquals(5, groups.count());
    assertEquals(List.of(0, 5), rows(0));
    assertEquals(List.of(1), rows(1));
    assertEquals(List.of(2), rows(2));
    assertEquals(List.of(3), rows(3));
    assertEquals(List.of(4), rows(4));
    assertEquals(0, groups.groupOf(5));
    assertEquals(WRITE, groups.opcode(1));
    assertSame(peers[1], groups.peer(2));
    assertEquals(1, groups.localKind(3));
    assertEquals(3, groups.localDevice(3));
    assertEquals(0, groups.remoteKind(3));
    assertEquals(0, groups.localKind(4));
    assertEquals(1, groups.remoteKind(4));
    assertEquals(5, groups.remoteDevice(4));

    requests.clear();
    requests.add(WRITE, 0x1000, 1, 0x1000, 1);
    sort();
    assertEquals(1, groups.count());
    assertEquals(List.of(0), rows(0));
  }

  @Test
  @DisplayName("rows that reach outside are refused by their place; a range that wraps around is no exception, known or not")
  void refuses() {
    refused(READ, 0x1000, 0, 0x1fff, 2);
    refused(READ, 0x1000, 0, -1, 2);
    refused(READ, 0x1000, 2, -1, 2);
    refused(READ, 0x1000, 2, 0, 2);
    refused(READ, 0x1000, 0, 0x1000, 0);
    refused(2, 0x1000, 0, 0x1000, 1);
    for (long address : new long[]{0, 0xfff, 0x1fff, 0x3000, -1}) {
      requests.clear();
      requests.add(READ, address, 0, 0x1000, 2);
      EngineException refused = assertThrows(EngineException.class, this::sort);
      assertEquals(EngineCode.ADDRESS_NOT_REGISTERED, refused.code());
    }
    requests.clear();
    requests.add(READ, 0x1000, 2, 0x7fff_0000, 2);
    sort();
    assertEquals(0, groups.remoteKind(0), "memory that nothing is known of is the host's");
  }

  private void refused(int opcode, long localAddress, int segment, long remoteAddress, long bytes) {
    requests.clear();
    requests.add(READ, 0x1000, 0, 0x1000, 1);
    requests.add(opcode, localAddress, segment, remoteAddress, bytes);
    String message = String.valueOf(assertThrows(IllegalArgumentException.class, this::sort).getMessage());
    assertTrue(message.contains("request 1"), message);
  }
}
