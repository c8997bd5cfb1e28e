package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;

/**
 * Whether a peer's worker side is gone, by repeated looks at its port. A worker side closes it last, when nothing of it is
 * being written any more. So one whose port is answered by another instance is gone. One whose port refuses is taken for
 * gone after several refusals in a row, since a firewall that has begun to reject connections looks the same; any other
 * answer, silence, or an error on the way begins the count anew. A firewall that rejects for longer, and lets what the
 * engines have open go on, cannot be told from an end: let one between two sides drop, not reject. One thread.
 */
final class PeerWatch {
  /** Refusals in a row, a second apart: longer than it takes to change the rules of a firewall. Unmeasured default. */
  static final int REFUSALS_MIN = 5;
  // 2 s: a kernel itself gives a connection up after 3 s at the earliest, which Java could not tell from a refusal
  private static final Duration CONNECT_MAX = Duration.ofSeconds(2);

  private final PeerInstance peer;
  private int refusals;

  PeerWatch(PeerInstance peer) {
    this.peer = peer;
  }

  /** Looks once more; whoever calls lets a second pass between two looks. {@return whether it is gone} */
  boolean looksGone() {
    Deadline deadline = Deadline.after(CONNECT_MAX);
    try (PeerConnection now = PeerConnection.open(peer.address(), deadline)) {
      refusals = now.peer(deadline).id().equals(peer.id()) ? 0 : REFUSALS_MIN;
    } catch (ConnectException refused) {
      refusals++;
    } catch (IOException unknown) {
      refusals = 0;
    }
    return refusals >= REFUSALS_MIN;
  }
}
