package dev.gatun.transfer;

import dev.gatun.backend.EngineOptions;

/** A kind of engine that the contract is held against. */
interface TransferSubject {
  /** {@return options of a new engine} */
  EngineOptions options();

  /** {@return whether faults of the embedded library can be injected} */
  boolean controlled();

  /** Called before each case. */
  void prepare();
}
