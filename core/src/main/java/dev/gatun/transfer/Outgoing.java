package dev.gatun.transfer;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An attempt of this side at a grant of a peer: what the peer has answered, and whether it was taken back. */
final class Outgoing {
  final UUID attempt;
  final Segment peer;
  // guarded by this; each question is answered once, what comes after is an echo
  private HandoverMessage.@Nullable Kind accepted;
  private HandoverMessage.@Nullable Kind confirmed;
  private boolean revoked;

  Outgoing(UUID attempt, Segment peer) {
    this.attempt = attempt;
    this.peer = peer;
  }

  synchronized void answer(HandoverMessage.Kind kind) {
    switch (kind) {
      case ACCEPTED, REFUSED -> accepted = accepted == null ? kind : accepted;
      case CONFIRMED, CHANGED -> confirmed = confirmed == null ? kind : confirmed;
      case REVOKE -> revoked = true;
      default -> throw new IllegalArgumentException("kind must be an answer: " + kind);
    }
  }

  /** {@return whether it may begin, null if nobody has said} */
  synchronized HandoverMessage.@Nullable Kind accepted() {
    return accepted;
  }

  /** {@return whether the pages are good, null if nobody has said} */
  synchronized HandoverMessage.@Nullable Kind confirmed() {
    return confirmed;
  }

  synchronized boolean isRevoked() {
    return revoked;
  }
}
