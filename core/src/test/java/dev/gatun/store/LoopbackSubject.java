package dev.gatun.store;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreBackendProvider;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackBackendProvider;
import dev.gatun.internal.backend.LoopbackControls;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The embedded library, as it is or with one of its mutants on. Its memory belongs to a client that stays. */
final class LoopbackSubject implements StoreContractSubject {
  /** Of the whole pool. */
  static final long CAPACITY_BYTES = 64L << 20;

  private static final StoreBackendProvider PROVIDER = new LoopbackBackendProvider();
  private static final StoreOptions OPTIONS = StoreOptions.loopback("contract", 0);
  private static @Nullable StoreBackend owner;

  private final int mutant;

  /** With a mutant on, 0 for none. */
  LoopbackSubject(int mutant) {
    this.mutant = mutant;
  }

  /** {@return the name of the segment that all objects are in} */
  static synchronized String ownerHostname() {
    if (owner == null) owner = PROVIDER.open(StoreOptions.loopback("contract", CAPACITY_BYTES));
    return owner.hostname();
  }

  @Override
  public StoreOptions options() {
    return OPTIONS;
  }

  @Override
  public StoreBackend client(int client) {
    return PROVIDER.open(OPTIONS);
  }

  @Override
  public StoreBackend ownClient() {
    return PROVIDER.open(OPTIONS);
  }

  @Override
  public boolean controlled() {
    return true;
  }

  @Override
  public void prepare() {
    LoopbackControls.reset();
    ownerHostname();
    LoopbackControls.masterRestart(OPTIONS.master()); // a mutant may have left keys in flight, which nothing removes
    LoopbackControls.mutant(mutant);
  }

  @Override
  public void hastenLeases() {
    LoopbackControls.advanceClock(Duration.ofSeconds(11));
  }
}
