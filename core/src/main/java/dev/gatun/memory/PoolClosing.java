package dev.gatun.memory;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.InUseException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a pool comes to rest and ends: no block becomes free memory while a transfer may touch it. */
final class PoolClosing {
  private static final Logger LOG = LoggerFactory.getLogger(BlockPool.class);
  // 50 us: as the epoch gate polls; unmeasured default
  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  private final BlockPool pool;
  private final PoolLeases leases;
  private final PoolCensus census;
  private final String part;
  private volatile boolean begun;
  private boolean ended;
  private List<BlockStatus> leaked = List.of();

  /**
   * @param pool what ends
   * @param part the name under which it holds its part of the slab
   */
  PoolClosing(BlockPool pool, PoolLeases leases, PoolCensus census, String part) {
    this.pool = pool;
    this.leases = leases;
    this.census = census;
    this.part = part;
  }

  /** Whether leases end, or have ended. */
  boolean hasBegun() {
    return begun;
  }

  /** The blocks that had not been released; empty before. */
  synchronized List<BlockStatus> leaked() {
    return leaked;
  }

  /** Waits for transfers of leases of earlier epochs, those in quarantine left out. */
  void awaitOldTransfers(Deadline deadline) {
    while (census.transferringOld() && !deadline.reached())
      LockSupport.parkNanos(this, POLL_NANOS);
  }

  /** Ends all leases and gives the memory back, once no transfer uses it. */
  synchronized void end(Deadline deadline, boolean ownsSlab) {
    if (ended) return;
    awaitIdle(deadline);
    Slab slab = pool.slab();
    if (ownsSlab && !slab.registrations().isEmpty()) {
      throw new InUseException("close " + pool.name() + " refused: " + slab + " is registered with "
          + slab.registrations().getFirst().registrar().name());
    }
    if (!begun) leaked = census.outstanding();
    begun = true;
    // revoked leases begin no transfer; one that slipped in before is waited for
    while (!leases.revokeAll())
      awaitIdle(deadline);
    ended = true;
    EpochGate gate = pool.gate();
    gate.unregister(pool);
    slab.giveBack(part);
    if (!leaked.isEmpty()) {
      LOG.warn("{} closed with {} blocks not released, first: {}", pool.name(), leaked.size(), leaked.getFirst());
    }
  }

  private void awaitIdle(Deadline deadline) {
    List<BlockStatus> busy = census.inFlight();
    while (!busy.isEmpty()) {
      if (deadline.reached()) {
        throw new InUseException(
            "close " + pool.name() + " refused: " + busy.size() + " blocks in flight, first: " + busy.getFirst());
      }
      LockSupport.parkNanos(this, POLL_NANOS);
      busy = census.inFlight();
    }
  }
}
