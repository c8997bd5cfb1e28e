package dev.gatun.transfer;

/**
 * One named statement about what an engine does.
 *
 * @param name what is true, after the report or requirement it answers
 * @param controlled whether it needs faults of the embedded library
 * @param body throws if it is not true
 */
record TransferCase(String name, boolean controlled, Body body) {

  /** What a case does. */
  interface Body {
    void run(TransferBench bench) throws Exception;
  }

  static TransferCase always(String name, Body body) {
    return new TransferCase(name, false, body);
  }

  static TransferCase controlled(String name, Body body) {
    return new TransferCase(name, true, body);
  }

  void run(TransferSubject subject) throws Exception {
    subject.prepare();
    try (TransferBench bench = new TransferBench(subject)) {
      body.run(bench);
    }
  }
}
