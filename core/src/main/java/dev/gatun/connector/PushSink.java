package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.PeerMessage.Done;
import dev.gatun.connector.PeerMessage.Forget;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.connector.PeerMessage.Room;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.PushTarget;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.function.Consumer;

/** Decode's side of a push: grants room, and takes the pages as good once prefill has committed. */
final class PushSink implements P2pWorker.Sink {
  // 5 s: prefill answers at once that it has forgotten a transfer
  private static final Duration FORGET_MAX = Duration.ofSeconds(5);

  private final P2pSite site;
  private final BootstrapClient bootstrap;
  private final Revocations revocations;

  PushSink(P2pSite site, BootstrapClient bootstrap, Revocations revocations) {
    this.site = site;
    this.bootstrap = bootstrap;
    this.revocations = revocations;
  }

  @Override
  public String load(Load load, Deadline deadline, Consumer<PeerConnection> running) {
    HostPort worker;
    try {
      worker = bootstrap.worker(load.source(), deadline);
    } catch (IOException e) {
      return "bootstrap service " + load.source().bootstrap() + ": " + e.getMessage();
    }
    try (PeerConnection prefill = PeerConnection.open(worker, deadline)) {
      running.accept(prefill);
      return handOver(load, prefill, deadline);
    } catch (ConnectException gone) {
      bootstrap.forget(load.source());
      return "prefill at " + worker + " is not there: " + gone.getMessage();
    } catch (IOException e) {
      forget(worker, load.source().transferId());
      return "prefill at " + worker + " did not answer: " + e;
    }
  }

  private String handOver(Load load, PeerConnection prefill, Deadline deadline) throws IOException {
    PushTarget target = site.handovers().grantPush(site.pool(),
        P2pSite.leases(load.blocks(), load.from(), load.to()), site.layoutDigest(), site.options().transferTimeout());
    boolean good = false;
    try {
      PeerMessage answer = prefill.ask(
          new Room(load.source().transferId(), site.layout(), target.grant(), load.from()), deadline);
      if (answer instanceof Refused refused) return "prefill: " + refused.reason();
      if (!(answer instanceof Done)) return "prefill answered " + answer;
      HandoverOutcome outcome = target.await(deadline);
      good = outcome == HandoverOutcome.COMMITTED;
      return good ? "" : "the push ended as " + outcome;
    } finally {
      if (!good) {
        target.revoke();
        revocations.follow(target, prefill.peer());
      }
    }
  }

  /** Lets prefill free its blocks at once, if it is there. */
  private static void forget(HostPort worker, String transferId) {
    Deadline deadline = Deadline.after(FORGET_MAX);
    try (PeerConnection connection = PeerConnection.open(worker, deadline)) {
      connection.ask(new Forget(transferId), deadline);
    } catch (IOException unreachable) {
      // it frees them after its own time
    }
  }
}
