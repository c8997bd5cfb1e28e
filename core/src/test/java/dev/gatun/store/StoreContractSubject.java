package dev.gatun.store;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;

/** A library that the contract is held against: where its stores are opened, and what a case may do to it. */
interface StoreContractSubject {

  /** {@return a name for messages} */
  String name();

  /** {@return options of a client; all clients of a subject meet in one pool} */
  StoreOptions options();

  /** Opens a backend of the subject's library. */
  StoreBackend open(StoreOptions options);

  /** {@return memory of the whole pool} */
  long capacityBytes();

  /** {@return whether faults, clock and limits can be controlled; cases that need it are not part of the contract else} */
  boolean controlled();

  /** Brings the subject into its first state: nothing armed, limits and clock at their defaults. */
  void prepare();

  /** Lets every lease run out that was granted before. */
  void outwaitLeases();
}
