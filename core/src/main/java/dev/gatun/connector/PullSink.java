package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.PeerMessage.Ask;
import dev.gatun.connector.PeerMessage.Confirm;
import dev.gatun.connector.PeerMessage.Done;
import dev.gatun.connector.PeerMessage.Pages;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.transfer.Attempt;
import dev.gatun.transfer.AttemptLine;
import dev.gatun.transfer.Grant;
import dev.gatun.transfer.HandoverOutcome;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Decode's side of a pull: reads what prefill offers, and takes it as good only if prefill confirms it afterwards. */
final class PullSink implements P2pLoads.Sink {
  private final P2pSite site;
  private final PeerConnections connections;

  PullSink(P2pSite site, PeerConnections connections) {
    this.site = site;
    this.connections = connections;
  }

  @Override
  public String load(RunningLoad running, Deadline deadline) {
    HostPort worker = running.load().source().worker();
    // closed once nothing that was granted on it can be begun any more
    try (AttemptLine line = site.handovers().openLine()) {
      PeerConnection prefill = connections.take(worker, deadline, running);
      boolean answered = false;
      try {
        String failure = pull(running.load(), prefill, line.first(), deadline);
        answered = true;
        running.waitsNoMore();
        connections.keep(worker, prefill);
        return failure;
      } finally {
        if (!answered) prefill.close();
      }
    } catch (IOException e) {
      return "prefill at " + worker + " did not answer: " + e;
    }
  }

  private String pull(Load load, PeerConnection prefill, Attempt attempt, Deadline deadline) throws IOException {
    PeerMessage answer = prefill.ask(
        new Ask(load.source().transferId(), site.layout(), site.gate().epoch(), load.from(), load.to(), attempt),
        deadline);
    if (answer instanceof Refused refused) return "prefill: " + refused.reason();
    if (!(answer instanceof Pages pages)) return "prefill answered " + answer;
    Grant grant = pages.grant();
    HandoverOutcome outcome = site.handovers().pull(grant, site.layoutDigest(), site.pool(),
        P2pSite.leases(load.blocks(), load.from(), load.to()), deadline,
        () -> confirmed(prefill, new Confirm(grant.id(), grant.epoch(), attempt), deadline));
    return outcome == HandoverOutcome.COMMITTED ? "" : "the pull ended as " + outcome;
  }

  /** What prefill says; null, and a connection of no more use, if it does not answer. */
  private static @Nullable Boolean confirmed(PeerConnection prefill, Confirm question, Deadline deadline) {
    try {
      return prefill.ask(question, deadline) instanceof Done;
    } catch (IOException unanswered) {
      prefill.close();
      return null;
    }
  }
}
