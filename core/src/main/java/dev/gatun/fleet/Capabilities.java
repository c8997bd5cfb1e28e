package dev.gatun.fleet;

/**
 * What one engine can do, from its version and, where it serves one, the description of its API: builds and forks state
 * versions that promise more than they have.
 *
 * @param pause whether it can be paused, and so be fenced
 * @param external what a reset does to the store behind the engine
 * @param abort whether all its requests can be aborted without a pause
 * @param pausedBefore whether it was paused when it was asked
 * @param described whether the description of its API was served
 * @param tellsPaused whether it can be asked if it is paused
 * @param connector the store connector that it says it has
 */
record Capabilities(EngineVersion version, boolean pause, External external, boolean abort, boolean pausedBefore,
    boolean described, boolean tellsPaused, Connector connector) {
  // the connector flag came with vLLM 0.13; Mooncake's connector ignored it until 0.23
  private static final int FLAG_MINOR = 13;
  private static final int CASCADE_MINOR = 23;

  /** What becomes of the store when this engine is told to reset. */
  enum External {
    /** There is no flag for it: the engine forgets its own pages only. */
    ABSENT("the engine has no flag for the store, which Gatun resets itself"),
    /** The flag is taken, and nothing is done about it. */
    NO_OP("this version takes the flag for the store and does nothing; Gatun resets the store itself"),
    /** The engine asks the master to remove everything, and reports success whatever came of it. */
    CASCADES("the engine asks for the removal as well");

    private final String meaning;

    External(String meaning) {
      this.meaning = meaning;
    }
  }

  /** What a report shows of it. */
  String text() {
    return version.text() + ", API " + (described ? "described" : "not described") + "; " + external.meaning;
  }

  /**
   * Why an engine that is paused may still put into the store, empty if it does not. A pause stops new requests; what is
   * queued is waited for by a reset alone.
   */
  String unfenced(boolean reset) {
    if (connector.absent()) return "";
    if (external != External.CASCADES) return "its reset does not wait for its store connector";
    return reset ? "" : "the reset that waits for its store connector is not done";
  }

  /** Whether it is taken to have Mooncake's connector without having said so. */
  boolean assumesConnector() {
    return !connector.known() && external == External.CASCADES;
  }

  /** What the flag of vLLM means; an unknown version is never sent it. */
  static External external(EngineVersion version, boolean describedWithout) {
    if (describedWithout || !version.atLeast(0, FLAG_MINOR)) return External.ABSENT;
    return version.atLeast(0, CASCADE_MINOR) ? External.CASCADES : External.NO_OP;
  }
}
