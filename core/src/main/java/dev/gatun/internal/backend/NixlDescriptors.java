package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.TransferRequests;
import dev.gatun.bindings.nixl.NixlC;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The pair of native descriptor lists from which a flight creates its requests, one pair for each kind of memory, filled
 * anew for each. Rows that follow each other without a gap on both sides become one descriptor: pages that lie side by
 * side cost one copy instead of many.
 */
final class NixlDescriptors {
  private static final int KINDS = 2; // the host's and a GPU's
  private static final int LOCAL = 0;
  private static final int REMOTE = KINDS;

  private final MemorySegment out;
  private final long[] lists = new long[2 * KINDS];

  /**
   * Makes no lists yet.
   *
   * @param out room for a handle
   */
  NixlDescriptors(MemorySegment out) {
    this.out = out;
  }

  /**
   * Fills the lists of a group.
   *
   * @param merge whether rows without a gap are merged
   * @return whether some were
   */
  boolean fill(TransferRequests requests, NixlGroups groups, int group, boolean merge) {
    long local = empty(LOCAL, groups.localKind(group));
    long remote = empty(REMOTE, groups.remoteKind(group));
    boolean merged = false;
    int row = groups.firstRow(group);
    while (row >= 0) {
      long localAddress = requests.localAddress(row);
      long remoteAddress = requests.remoteAddress(row);
      long bytes = requests.length(row);
      long localDevice = groups.localDevice(row);
      long remoteDevice = groups.remoteDevice(row);
      row = groups.nextRow(row);
      while (merge && row >= 0 && requests.localAddress(row) == localAddress + bytes
          && requests.remoteAddress(row) == remoteAddress + bytes && groups.localDevice(row) == localDevice
          && groups.remoteDevice(row) == remoteDevice) {
        bytes += requests.length(row);
        merged = true;
        row = groups.nextRow(row);
      }
      NixlAgent.check("submit", NixlC.nixl_capi_xfer_dlist_add_desc(local, localAddress, bytes, localDevice), "local");
      NixlAgent.check("submit", NixlC.nixl_capi_xfer_dlist_add_desc(remote, remoteAddress, bytes, remoteDevice),
          "remote");
    }
    return merged;
  }

  private long empty(int side, int kind) {
    int index = side + kind;
    if (lists[index] == 0) {
      NixlAgent.check("submit", NixlC.nixl_capi_create_xfer_dlist(kind, out), "no descriptor list");
      lists[index] = out.get(JAVA_LONG, 0);
    } else {
      NixlAgent.check("submit", NixlC.nixl_capi_xfer_dlist_clear(lists[index]), "descriptor list");
    }
    return lists[index];
  }

  /** {@return the list of local descriptors that was filled last for a kind of memory} */
  long local(int kind) {
    return lists[LOCAL + kind];
  }

  /** {@return the list of remote descriptors that was filled last for a kind of memory} */
  long remote(int kind) {
    return lists[REMOTE + kind];
  }

  /** Frees the lists. */
  void close() {
    for (long list : lists) {
      if (list != 0) NixlC.nixl_capi_destroy_xfer_dlist(list);
    }
    Arrays.fill(lists, 0);
  }
}
