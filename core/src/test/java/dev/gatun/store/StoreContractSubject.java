package dev.gatun.store;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;

/** A library that the contract is held against: where its stores are opened, and what a case may do to it. */
interface StoreContractSubject {

  /** {@return options of a client; all clients of a subject meet in one pool and contribute no memory to it} */
  StoreOptions options();

  /**
   * {@return a client of the pool, whose close need not destroy it: opening and destroying cost seconds with a real
   * master}
   *
   * @param client which one: equal numbers may be the same client, different ones are different clients
   */
  StoreBackend client(int client);

  /** {@return a client that its owner destroys} */
  StoreBackend ownClient();

  /** {@return whether faults, clock and limits can be controlled; cases that need it are not part of the contract else} */
  boolean controlled();

  /** Brings the subject into its first state: nothing armed, limits and clock at their defaults. */
  void prepare();

  /** Lets leases that were granted before run out soon; those who wait for it poll. */
  void hastenLeases();
}
