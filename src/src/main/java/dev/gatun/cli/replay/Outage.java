package dev.gatun.cli.replay;

import dev.gatun.backend.StoreCode;
import dev.gatun.store.StoreBatch;

/**
 * Notices a store that has stopped working: calls without an answer for a single key, one after another. One thread.
 */
final class Outage {
  // 5: clients get over a master that starts anew within two calls; where connections are refused, each takes 4.3 s
  static final int CALLS_MAX = 5;

  private int calls;
  private String last = "";

  /** Takes note of a call that has ended. */
  void ended(String operation, StoreBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (isAnswer(batch.code(i))) {
        answered();
        return;
      }
    }
    if (batch.size() > 0) failed(operation + ": " + batch.code(0) + " (" + batch.rawCode(0) + ')');
  }

  /** Takes note of a call that was answered for a key at least. */
  void answered() {
    calls = 0;
  }

  /** Takes note of a call that failed as a whole. */
  void failed(String what) {
    calls++;
    last = what;
  }

  /** {@return whether so many calls in a row have failed that the rest would fail too} */
  boolean isTotal() {
    return calls >= CALLS_MAX;
  }

  /** {@return what happened, a few words} */
  String text() {
    return "the store failed as a whole " + calls + " times in a row, last " + last;
  }

  /** Whether the store has said something about the key, be it that there is no room. */
  private static boolean isAnswer(StoreCode code) {
    return switch (code) {
      case OK, OBJECT_NOT_FOUND, OBJECT_ALREADY_EXISTS, LEASE_EXPIRED, OBJECT_HAS_LEASE, REPLICA_IS_NOT_READY,
          NO_AVAILABLE_HANDLE, PAGE_REJECTED ->
        true;
      default -> false;
    };
  }
}
