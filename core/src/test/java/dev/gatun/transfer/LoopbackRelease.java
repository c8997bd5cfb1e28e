package dev.gatun.transfer;

import dev.gatun.internal.backend.LoopbackControls;

/** Lets go what a case left hanging, where there is something to let go. */
final class LoopbackRelease {
  private LoopbackRelease() {}

  static void ifControlled(TransferSubject subject, String point) {
    if (subject.controlled()) LoopbackControls.release(point);
  }
}
