package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.bindings.mooncake.MooncakeEngineC;
import dev.gatun.bindings.mooncake.transfer_status;
import dev.gatun.internal.ffm.NativeArguments;
import dev.gatun.internal.ffm.NativeHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submits of one batch after another. A native batch id is a heap pointer: it is allocated by a submit, polled until
 * every task was seen to end, and then freed once. No task is polled again after it has ended, since such a poll scans
 * the whole batch. The message of a batch is sent by a call of its own when all tasks have completed: the library's own
 * way may send it late, twice, to another batch, or never.
 */
final class MooncakeFlight implements EngineFlight {
  private static final Logger LOG = LoggerFactory.getLogger(MooncakeFlight.class);
  // a query that fails so often in a row tells nothing about the transfer, which may still run
  private static final int FAILURES_MAX = 3;
  private static final int NOT_POLLED = MooncakeEngineC.STATUS_WAITING();

  private final MooncakeEngineBackend backend;
  private final NativeHandle<EngineCall> handle;
  private final Arena arena = Arena.ofShared(); // flight
  private final MemorySegment status = transfer_status.allocate(arena);
  private final int[] statuses;

  private boolean flying;
  private long batch;
  private int count;
  private int cursor;
  private int left;
  private int failures;
  private boolean freed;
  private int target;
  private byte @Nullable [] message;
  private NoticeSender.@Nullable Delivery delivery;

  @SuppressWarnings("MustBeClosedChecker") // closed with the flight
  MooncakeFlight(MooncakeEngineBackend backend, NativeHandle<EngineCall> handle, int capacity) {
    this.backend = backend;
    this.handle = handle;
    statuses = new int[capacity];
  }

  @Override
  public void submit(TransferRequests requests, byte @Nullable [] text) {
    if (flying) throw new IllegalStateException("submit refused: " + left + " requests have not ended");
    check(requests, text);
    MemorySegment engine = handle.enter(EngineCall.SUBMIT);
    try {
      submit(engine, requests);
    } finally {
      handle.exit(EngineCall.SUBMIT);
    }
    target = requests.segment(0);
    message = text;
  }

  private void submit(MemorySegment engine, TransferRequests requests) {
    int wanted = requests.size();
    long id = MooncakeEngineC.allocateBatchID(engine, wanted);
    if (id == 0 || id == MooncakeEngineC.INVALID_BATCH()) {
      throw new EngineException("submit", EngineCode.MEMORY, id, wanted + " requests: no batch could be allocated");
    }
    int code = MooncakeEngineC.submitTransfer(engine, id, requests.rows(), wanted);
    // a batch that can be freed has no task; one that cannot has tasks, which polls will find failed
    if (code != 0 && MooncakeEngineC.freeBatchID(engine, id) == 0) {
      throw new EngineException("submit", EngineCode.ofMooncake(code), code, wanted + " requests");
    }
    batch = id;
    count = wanted;
    left = wanted;
    cursor = 0;
    failures = 0;
    freed = false;
    delivery = null;
    for (int i = 0; i < wanted; i++)
      statuses[i] = NOT_POLLED;
    flying = true;
  }

  private void check(TransferRequests requests, byte @Nullable [] text) {
    int size = requests.size();
    if (size < 1 || size > statuses.length) {
      throw new IllegalArgumentException("requests must be 1 to " + statuses.length + ": " + size);
    }
    if (text != null) {
      NativeArguments.count("message length", text.length, backend.capabilities().notificationBytesMax());
    }
    for (int i = 0; i < size; i++) {
      int opcode = requests.opcode(i);
      if (opcode != TransferRequests.READ && opcode != TransferRequests.WRITE) {
        throw new IllegalArgumentException("opcode of request " + i + " must be 0 or 1: " + opcode);
      }
      if (requests.length(i) < 1) {
        throw new IllegalArgumentException("length of request " + i + " must be positive: " + requests.length(i));
      }
      if (requests.localAddress(i) == 0)
        throw new IllegalArgumentException("address of request " + i + " must not be 0");
      if (requests.segment(i) < 0) {
        throw new IllegalArgumentException("segment of request " + i + " must be 0 or more: " + requests.segment(i));
      }
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
    if (!freed) {
      MemorySegment engine = handle.enter(EngineCall.STATUS);
      try {
        look(engine, all);
        if (left > 0 || !free(engine)) return Math.max(1, left);
      } finally {
        handle.exit(EngineCall.STATUS);
      }
    }
    if (!messageIsOver()) return 1;
    flying = false;
    return 0;
  }

  private void look(MemorySegment engine, boolean all) {
    boolean gap = false;
    for (int i = cursor; i < count && (all || !gap); i++) {
      if (isOver(statuses[i])) {
        if (!gap) cursor = i + 1;
        continue;
      }
      // a query that writes nothing must not look like the end of the request before it
      status.set(JAVA_INT, 0, NOT_POLLED);
      int code = MooncakeEngineC.getTransferStatus(engine, batch, i, status);
      if (code != 0) {
        if (++failures < FAILURES_MAX) return;
        failures = 0;
        throw new EngineException("status", EngineCode.ofMooncake(code), code, "request " + i + " of " + count);
      }
      failures = 0;
      statuses[i] = status.get(JAVA_INT, 0);
      if (isOver(statuses[i])) {
        left--;
        if (!gap) cursor = i + 1;
      } else {
        gap = true;
      }
    }
  }

  /** Frees the batch id. A library that refuses although it showed every task's end keeps it: leaked, not freed twice. */
  private boolean free(MemorySegment engine) {
    int code = MooncakeEngineC.freeBatchID(engine, batch);
    if (code != 0 && ++failures < FAILURES_MAX) return false;
    if (code != 0) {
      LOG.warn("{} did not free a batch whose {} requests have ended: {} ({})", backend.name(), count,
          EngineCode.ofMooncake(code), code);
    }
    freed = true;
    if (message != null && completed() == count) delivery = backend.notifyAside(target, message);
    return true;
  }

  private boolean messageIsOver() {
    return delivery == null || delivery.isOver();
  }

  private int completed() {
    int completed = 0;
    for (int i = 0; i < count; i++) {
      if (statuses[i] == MooncakeEngineC.STATUS_COMPLETED()) completed++;
    }
    return completed;
  }

  /** A time-out is not an end: the data may still arrive. */
  private static boolean isOver(int status) {
    return meaning(status).isTerminal();
  }

  private static TransferOutcome meaning(int status) {
    return switch (status) {
      case 2 -> TransferOutcome.INVALID;
      case 3 -> TransferOutcome.CANCELED;
      case 4 -> TransferOutcome.COMPLETED;
      case 6 -> TransferOutcome.FAILED;
      default -> TransferOutcome.RUNNING;
    };
  }

  @Override
  public TransferOutcome outcome(int index) {
    return meaning(statuses[index]);
  }

  @Override
  public long rawStatus(int index) {
    return statuses[index];
  }

  @Override
  public boolean notified() {
    return delivery != null && delivery.delivered();
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
    if (arena.scope().isAlive()) arena.close();
  }
}
