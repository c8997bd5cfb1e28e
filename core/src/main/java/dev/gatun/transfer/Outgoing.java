package dev.gatun.transfer;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A hand-over that this side carries out on a grant of a peer: what the peer has answered, and whether anything moves. */
final class Outgoing {
  final UUID id;
  final Segment peer;
  // guarded by this
  private HandoverMessage.@Nullable Kind answer;
  private boolean revoked;

  Outgoing(UUID id, Segment peer) {
    this.id = id;
    this.peer = peer;
  }

  synchronized void answer(HandoverMessage.Kind kind) {
    if (kind == HandoverMessage.Kind.REVOKE) revoked = true;
    else
      answer = kind;
  }

  synchronized HandoverMessage.@Nullable Kind answer() {
    return answer;
  }

  /** Forgets the answer, because another question follows. */
  synchronized void ask() {
    answer = null;
  }

  synchronized boolean isRevoked() {
    return revoked;
  }
}
