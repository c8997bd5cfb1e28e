package dev.gatun.store;

/** Asks whether the keys of a batch can be read. */
final class ExistenceQuestion {
  private final StoreCore core;
  private final BatchEntries entries;
  private final BatchCalls calls;
  private final Activity activity;

  ExistenceQuestion(StoreCore core, BatchEntries entries, Activity activity) {
    this.core = core;
    this.entries = entries;
    this.activity = activity;
    calls = new BatchCalls(core, entries);
  }

  void ask() {
    activity.begin("exists", entries.size);
    entries.seal();
    try {
      int ticket = core.enterOrPark("exists", entries.sealed, activity);
      entries.start(BatchEntries.Ran.EXISTS);
      if (ticket == StoreCore.DISABLED) {
        entries.finish(0);
        return;
      }
      try {
        entries.rekey();
        leaveOutFailedKeys();
        send();
      } finally {
        core.gate.exit(ticket);
      }
    } finally {
      activity.end();
    }
  }

  /** Gives keys whose transfer failed moments ago the same failure, so that they are not sent. {@return whether any} */
  boolean leaveOutFailedKeys() {
    if (!core.failedKeys.active()) return false;
    int skipped = 0;
    for (int i = 0; i < entries.sealed; i++) {
      long rawCode = core.failedKeys.rawCode(entries.keys[i].hash());
      if (rawCode == FailedKeys.NONE) continue;
      entries.outcomes[i] = Outcome.unsent(rawCode);
      skipped++;
    }
    if (skipped > 0) core.observer.onSkip("failed-key", skipped);
    return skipped > 0;
  }

  private void send() {
    long started = System.nanoTime();
    activity.nativeSince(started);
    try {
      calls.exists();
    } finally {
      long nanos = System.nanoTime() - started;
      entries.finish(Outcome.NOT_SENT);
      int present = 0;
      int absent = 0;
      for (int i = 0; i < entries.sealed; i++) {
        if (entries.outcomes[i] == 1) present++;
        else if (entries.outcomes[i] == 0) absent++;
      }
      core.observer.onExists(present, absent, entries.sealed - present - absent, nanos);
    }
  }
}
