package dev.gatun.store;

/**
 * One named statement about what a store does.
 *
 * @param name what is true, after the report or requirement it answers
 * @param controlled whether it needs faults, the clock or limits of the embedded library
 * @param body throws if it is not true
 */
record ContractCase(String name, boolean controlled, Body body) {

  /** What a case does. */
  interface Body {
    void run(ContractBench bench) throws Exception;
  }

  static ContractCase always(String name, Body body) {
    return new ContractCase(name, false, body);
  }

  static ContractCase controlled(String name, Body body) {
    return new ContractCase(name, true, body);
  }

  void run(StoreContractSubject subject) throws Exception {
    try (ContractBench bench = new ContractBench(subject)) {
      body.run(bench);
    }
  }
}
