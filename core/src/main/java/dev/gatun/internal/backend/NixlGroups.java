package dev.gatun.internal.backend;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.TransferRequests;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a batch sorted into native requests: one for each direction, peer and pair of kinds of memory. A group
 * keeps the order of its rows. Reused; allocates nothing on the heap.
 */
final class NixlGroups {
  private static final int NONE = -1;

  private final int[] groupOf; // each row's
  private final int[] next; // each row's successor in its group
  private final int[] first; // each group's
  private final int[] last;
  private final int[] rows;
  private final int[] opcodes;
  private final int[] localKinds;
  private final int[] remoteKinds;
  private final long[] localDevices; // each row's
  private final long[] remoteDevices;
  private final @Nullable NixlPeer[] peers;
  private int count;

  NixlGroups(int capacity) {
    groupOf = new int[capacity];
    next = new int[capacity];
    first = new int[capacity];
    last = new int[capacity];
    rows = new int[capacity];
    opcodes = new int[capacity];
    localKinds = new int[capacity];
    remoteKinds = new int[capacity];
    localDevices = new long[capacity];
    remoteDevices = new long[capacity];
    peers = new NixlPeer[capacity];
  }

  /**
   * Sorts a batch, and checks each row: C would take an address range that wraps around for one that is registered.
   *
   * @param requests the batch
   * @param local what is registered here
   * @param peerOf finds a peer by its segment id, or throws
   * @throws IllegalArgumentException if a row is malformed or reaches outside of what its peer has registered
   * @throws EngineException if its local memory is not registered
   */
  void sort(TransferRequests requests, NixlRanges local, IntFunction<NixlPeer> peerOf) {
    Arrays.fill(peers, 0, count, null);
    count = 0;
    NixlPeer peer = null;
    NixlRanges theirs = NixlRanges.NONE;
    int segment = NONE;
    int here = 0;
    int there = 0;
    for (int row = 0; row < requests.size(); row++) {
      int opcode = requests.opcode(row);
      if (opcode != TransferRequests.READ && opcode != TransferRequests.WRITE) {
        throw new IllegalArgumentException("opcode of request " + row + " must be 0 or 1: " + opcode);
      }
      long bytes = requests.length(row);
      if (bytes < 1) throw new IllegalArgumentException("length of request " + row + " must be positive: " + bytes);
      here = local.find(requests.localAddress(row), bytes, here);
      if (here < 0) throw notRegistered(requests, row);
      if (peer == null || requests.segment(row) != segment) {
        segment = requests.segment(row);
        peer = peerOf.apply(segment);
        theirs = peer.ranges();
      }
      there = theirs.find(requests.remoteAddress(row), bytes, there);
      if (there < 0) requireUnknown(theirs, requests, row);
      localDevices[row] = local.device(here);
      remoteDevices[row] = there < 0 ? 0 : theirs.device(there);
      put(row, opcode, peer, local.kind(here), there < 0 ? 0 : theirs.kind(there));
    }
  }

  private void put(int row, int opcode, NixlPeer peer, int localKind, int remoteKind) {
    next[row] = NONE;
    for (int group = count - 1; group >= 0; group--) {
      if (peers[group] == peer && opcodes[group] == opcode && localKinds[group] == localKind
          && remoteKinds[group] == remoteKind) {
        groupOf[row] = group;
        next[last[group]] = row;
        last[group] = row;
        rows[group]++;
        return;
      }
    }
    groupOf[row] = count;
    first[count] = row;
    last[count] = row;
    rows[count] = 1;
    opcodes[count] = opcode;
    localKinds[count] = localKind;
    remoteKinds[count] = remoteKind;
    peers[count] = peer;
    count++;
  }

  private static EngineException notRegistered(TransferRequests requests, int row) {
    return new EngineException("submit", EngineCode.ADDRESS_NOT_REGISTERED, 0, "request " + row + ": local address 0x"
        + Long.toHexString(requests.localAddress(row)) + ", " + requests.length(row) + " bytes");
  }

  private static void requireUnknown(NixlRanges ranges, TransferRequests requests, int row) {
    long address = requests.remoteAddress(row);
    long end = address + (requests.length(row) - 1);
    if (ranges.isEmpty() && address != 0 && Long.compareUnsigned(end, address) >= 0) return;
    throw new IllegalArgumentException("remote address of request " + row + " must lie with its "
        + requests.length(row) + " bytes in one range that the peer has registered: 0x" + Long.toHexString(address));
  }

  int count() {
    return count;
  }

  int groupOf(int row) {
    return groupOf[row];
  }

  int firstRow(int group) {
    return first[group];
  }

  /** {@return the row after this one in its group, negative after the last} */
  int nextRow(int row) {
    return next[row];
  }

  int rows(int group) {
    return rows[group];
  }

  int opcode(int group) {
    return opcodes[group];
  }

  int localKind(int group) {
    return localKinds[group];
  }

  int remoteKind(int group) {
    return remoteKinds[group];
  }

  long localDevice(int row) {
    return localDevices[row];
  }

  long remoteDevice(int row) {
    return remoteDevices[row];
  }

  NixlPeer peer(int group) {
    NixlPeer peer = peers[group];
    if (peer == null) throw new IllegalStateException("no group " + group);
    return peer;
  }
}
