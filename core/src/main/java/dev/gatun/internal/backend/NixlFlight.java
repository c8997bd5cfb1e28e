package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.bindings.nixl.NixlC;
import dev.gatun.internal.ffm.NativeArguments;
import dev.gatun.internal.ffm.NativeHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submits of one batch after another. A native request moves the rows of one group: all are created before the first is
 * posted, so that a refusal finds nothing sent; each is posted once, asked until its status is terminal, then released
 * and destroyed, once. One that is in flight is never released: the library would answer that it was, and bytes might
 * still arrive. All rows of a group end together; those of one that failed when its connection is closed, since the
 * library may have parts of it under way until then. The message is sent when everything has completed.
 */
final class NixlFlight implements EngineFlight {
  private static final Logger LOG = LoggerFactory.getLogger(NixlFlight.class);
  private static final int RUNNING = NixlC.NIXL_CAPI_IN_PROG();

  private final NixlEngineBackend backend;
  private final NativeHandle<EngineCall> handle;
  private final Arena arena = Arena.ofShared(); // flight
  private final MemorySegment out = arena.allocate(JAVA_LONG);
  private final NixlDescriptors descriptors = new NixlDescriptors(out);
  private final NixlGroups groups;
  private final long[] natives; // each group's request, 0 once it was destroyed
  private final int[] statuses; // each group's
  private final int[] connections; // each group's that has failed
  private final boolean[] over; // each group's: nothing of it moves any more
  private final int capacity;
  private final IntFunction<NixlPeer> peerOf;

  private boolean flying;
  private int left;
  private int cursor;
  private byte @Nullable [] message;
  private boolean notified;

  @SuppressWarnings("MustBeClosedChecker") // closed with the flight
  NixlFlight(NixlEngineBackend backend, NativeHandle<EngineCall> handle, int capacity) {
    this.backend = backend;
    this.handle = handle;
    this.capacity = capacity;
    peerOf = backend::peer;
    groups = new NixlGroups(capacity);
    natives = new long[capacity];
    statuses = new int[capacity];
    connections = new int[capacity];
    over = new boolean[capacity];
  }

  @Override
  public void submit(TransferRequests requests, byte @Nullable [] text) {
    if (flying) throw new IllegalStateException("submit refused: " + left + " requests have not ended");
    int size = requests.size();
    if (size < 1 || size > capacity) {
      throw new IllegalArgumentException("requests must be 1 to " + capacity + ": " + size);
    }
    if (text != null) {
      NativeArguments.count("message length", text.length, backend.capabilities().notificationBytesMax());
    }
    long agent = handle.enter(EngineCall.SUBMIT).address();
    try {
      groups.sort(requests, backend.local(), peerOf);
      create(agent, requests);
      post(agent);
    } finally {
      handle.exit(EngineCall.SUBMIT);
    }
    left = size;
    cursor = 0;
    message = text;
    notified = false;
    flying = true;
  }

  /** Creates the requests of all groups, or none. */
  private void create(long agent, TransferRequests requests) {
    int begun = 0;
    int created = 0;
    try {
      for (; begun < groups.count(); begun++)
        groups.peer(begun).begin();
      for (; created < groups.count(); created++)
        natives[created] = create(agent, requests, created);
    } finally {
      if (created < groups.count()) {
        for (int group = 0; group < created; group++)
          free(agent, group);
        for (int group = 0; group < begun; group++)
          groups.peer(group).end(false);
      }
    }
  }

  private long create(long agent, TransferRequests requests, int group) {
    boolean merged = descriptors.fill(requests, groups, group, true);
    int status = create(agent, group);
    // a descriptor must lie in one registration; rows that were merged may lie in two that adjoin
    if (status != 0 && merged) {
      descriptors.fill(requests, groups, group, false);
      status = create(agent, group);
    }
    if (status == 0) return out.get(JAVA_LONG, 0);
    throw new EngineException("submit", EngineCode.ofNixl(status), status, groups.rows(group) + " requests to "
        + groups.peer(group).name() + ": it is unknown, or memory of either side is not registered");
  }

  private int create(long agent, int group) {
    return NixlC.nixl_capi_create_xfer_req(agent, groups.opcode(group), descriptors.local(groups.localKind(group)),
        descriptors.remote(groups.remoteKind(group)), groups.peer(group).nativeName(), out, 0);
  }

  private void post(long agent) {
    for (int group = 0; group < groups.count(); group++) {
      over[group] = false;
      statuses[group] = NixlC.nixl_capi_post_xfer_req(agent, natives[group], 0);
    }
  }

  @Override
  public int poll() {
    return poll(false);
  }

  @Override
  public int pollAll() {
    return poll(true);
  }

  private int poll(boolean all) {
    if (!flying) return 0;
    long agent = handle.enter(EngineCall.STATUS).address();
    try {
      look(agent, all);
      if (left > 0) return left;
      if (message != null && completed()) notified = delivered(message);
    } finally {
      handle.exit(EngineCall.STATUS);
    }
    flying = false;
    return 0;
  }

  /** All bytes have arrived, whatever becomes of the message. */
  private boolean delivered(byte[] text) {
    try {
      return backend.deliver(groups.peer(0), text) == 0;
    } catch (EngineException e) {
      LOG.warn("{} did not deliver a message: {}", backend.name(), e.getMessage());
      return false;
    }
  }

  private void look(long agent, boolean all) {
    boolean gap = false;
    boolean behind = false;
    for (int group = cursor; group < groups.count() && (all || !gap); group++) {
      if (natives[group] != 0) ask(agent, group);
      if (!over[group] && natives[group] == 0 && isSettled(group)) {
        over[group] = true;
        left -= groups.rows(group);
      }
      // one that waits for its connection to be closed waits for those behind it to end
      gap |= natives[group] != 0;
      behind |= !over[group];
      if (!behind) cursor = group + 1;
    }
  }

  private void ask(long agent, int group) {
    if (statuses[group] == RUNNING) statuses[group] = NixlC.nixl_capi_get_xfer_status(agent, natives[group]);
    if (statuses[group] == RUNNING) return;
    free(agent, group);
    connections[group] = groups.peer(group).end(statuses[group] != 0);
  }

  private boolean isSettled(int group) {
    return statuses[group] == 0 || groups.peer(group).isClosed(connections[group]);
  }

  /** Gives a request back that was never posted or has ended. A library that keeps it all the same leaks it. */
  private void free(long agent, int group) {
    long request = natives[group];
    natives[group] = 0;
    int status = NixlC.nixl_capi_release_xfer_req(agent, request);
    if (status == 0) status = NixlC.nixl_capi_destroy_xfer_req(request);
    if (status != 0) {
      LOG.warn("{} did not release a request that has ended: {} ({})", backend.name(), EngineCode.ofNixl(status),
          status);
    }
  }

  private boolean completed() {
    for (int group = 0; group < groups.count(); group++) {
      if (statuses[group] != 0) return false;
    }
    return true;
  }

  @Override
  public TransferOutcome outcome(int index) {
    int group = groups.groupOf(index);
    if (!over[group]) return TransferOutcome.RUNNING;
    return statuses[group] == 0 ? TransferOutcome.COMPLETED : TransferOutcome.FAILED;
  }

  @Override
  public long rawStatus(int index) {
    return statuses[groups.groupOf(index)];
  }

  @Override
  public boolean notified() {
    return notified;
  }

  @Override
  public boolean inFlight() {
    return flying;
  }

  @Override
  public void abandon() {
    flying = false;
  }

  @Override
  public void close() {
    if (flying) throw new IllegalStateException("close refused: " + left + " requests have not ended");
    if (!arena.scope().isAlive()) return;
    descriptors.close();
    arena.close();
  }
}
