package dev.gatun.transfer;

import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.memory.Slab;
import org.jspecify.annotations.Nullable;

/** A flight of memory that Java cannot touch: each call that may move or look at it is run as the slab wants it. */
final class BoundFlight implements EngineFlight {
  private final EngineFlight flight;
  private final Slab slab;
  private final Runnable poll;
  private final Runnable pollAll;
  private int left;

  private BoundFlight(EngineFlight flight, Slab slab) {
    this.flight = flight;
    this.slab = slab;
    poll = () -> left = flight.poll();
    pollAll = () -> left = flight.pollAll();
  }

  /** {@return the flight itself for memory of the host} */
  static EngineFlight of(EngineFlight flight, Slab slab) {
    return slab.isHost() ? flight : new BoundFlight(flight, slab);
  }

  @Override
  public void submit(TransferRequests requests, byte @Nullable [] message) {
    slab.run(() -> flight.submit(requests, message));
  }

  @Override
  public int poll() {
    slab.run(poll);
    return left;
  }

  @Override
  public int pollAll() {
    slab.run(pollAll);
    return left;
  }

  @Override
  public TransferOutcome outcome(int index) {
    return flight.outcome(index);
  }

  @Override
  public long rawStatus(int index) {
    return flight.rawStatus(index);
  }

  @Override
  public boolean notified() {
    return flight.notified();
  }

  @Override
  public boolean inFlight() {
    return flight.inFlight();
  }

  @Override
  public void abandon() {
    flight.abandon();
  }

  @Override
  public void close() {
    flight.close();
  }
}
