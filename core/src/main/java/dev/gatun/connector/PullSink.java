package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.PeerMessage.Ask;
import dev.gatun.connector.PeerMessage.Pages;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.transfer.Attempt;
import dev.gatun.transfer.AttemptLine;
import dev.gatun.transfer.HandoverOutcome;
import java.io.IOException;

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
    // closed once nothing that was granted on it can be begun any more
    try (AttemptLine line = site.handovers().openLine()) {
      return pull(running.load(), ask(running, line.first(), deadline), deadline);
    } catch (IOException e) {
      return "prefill at " + running.load().source().worker() + " did not answer: " + e;
    }
  }

  private String pull(Load load, PeerMessage answer, Deadline deadline) {
    if (answer instanceof Refused refused) return "prefill: " + refused.reason();
    if (!(answer instanceof Pages pages)) return "prefill answered " + answer;
    HandoverOutcome outcome = site.handovers().pull(pages.grant(), site.layoutDigest(), site.pool(),
        P2pSite.leases(load.blocks(), load.from(), load.to()), deadline);
    return outcome == HandoverOutcome.COMMITTED ? "" : "the pull ended as " + outcome;
  }

  private PeerMessage ask(RunningLoad running, Attempt attempt, Deadline deadline) throws IOException {
    Load load = running.load();
    PeerConnection prefill = connections.take(load.source().worker(), deadline, running);
    boolean answered = false;
    try {
      PeerMessage answer = prefill.ask(
          new Ask(load.source().transferId(), site.layout(), site.gate().epoch(), load.from(), load.to(), attempt),
          deadline);
      running.waitsNoMore();
      connections.keep(load.source().worker(), prefill);
      answered = true;
      return answer;
    } finally {
      if (!answered) prefill.close();
    }
  }
}
