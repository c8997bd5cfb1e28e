package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.PeerMessage.Done;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.connector.PeerMessage.Room;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.PushTarget;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Decode's side of a push: grants room, and takes the pages as good once prefill has committed. */
final class PushSink implements P2pLoads.Sink {
  private final P2pSite site;
  private final BootstrapClient bootstrap;
  private final PeerConnections connections;
  private final Revocations revocations;

  PushSink(P2pSite site, BootstrapClient bootstrap, PeerConnections connections, Revocations revocations) {
    this.site = site;
    this.bootstrap = bootstrap;
    this.connections = connections;
    this.revocations = revocations;
  }

  @Override
  public String load(RunningLoad running, Deadline deadline) {
    Load load = running.load();
    HostPort worker;
    try {
      worker = bootstrap.worker(load.source(), deadline, running::waits);
    } catch (IOException e) {
      return "bootstrap service " + load.source().bootstrap() + ": " + e.getMessage();
    }
    try {
      return handOver(running, worker, connections.take(worker, deadline, running), deadline);
    } catch (ConnectException gone) {
      bootstrap.forget(load.source());
      return "prefill at " + worker + " is not there: " + gone.getMessage();
    } catch (IOException e) {
      return "prefill at " + worker + " did not answer: " + e;
    }
  }

  private String handOver(RunningLoad running, HostPort worker, PeerConnection prefill, Deadline deadline)
      throws IOException {
    boolean good = false;
    try {
      CompletableFuture<PeerMessage> answer = new CompletableFuture<>();
      String failure = handOver(running.load(), prefill, answer, deadline);
      good = failure.isEmpty();
      if (good) keepOnceAnswered(running, worker, prefill, answer);
      return failure;
    } finally {
      if (!good) prefill.close();
    }
  }

  /** Prefill's answer is still on its way. */
  @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for it
  private void keepOnceAnswered(RunningLoad running, HostPort worker, PeerConnection prefill,
      CompletableFuture<PeerMessage> answer) {
    running.waitsNoMore();
    answer.whenComplete((said, failed) -> {
      if (failed == null) connections.keep(worker, prefill);
      else
        prefill.close();
    });
  }

  private String handOver(Load load, PeerConnection prefill, CompletableFuture<PeerMessage> answer, Deadline deadline)
      throws IOException {
    PushTarget target = site.handovers().grantPush(site.pool(),
        P2pSite.leases(load.blocks(), load.from(), load.to()), site.layoutDigest(), site.options().transferTimeout(),
        prefill.nextAttempt());
    @Nullable
    PeerInstance sender = null;
    boolean good = false;
    try {
      sender = prefill.peer(deadline); // its first word was on its way meanwhile
      ask(prefill, new Room(load.source().transferId(), site.layout(), target.grant(), load.from()), answer, deadline);
      // the commit says that the pages are here, and prefill's answer comes a round trip later
      HandoverOutcome outcome = target.await(answer::isDone, deadline);
      if (outcome != HandoverOutcome.COMMITTED) {
        PeerMessage said = get(answer, deadline);
        if (said instanceof Refused refused) return "prefill: " + refused.reason();
        if (!(said instanceof Done)) return "prefill answered " + said;
        outcome = target.await(deadline);
      }
      good = outcome == HandoverOutcome.COMMITTED;
      return good ? "" : "the push ended as " + outcome;
    } finally {
      if (!good) {
        target.revoke();
        if (sender != null) revocations.follow(target, sender); // who was not asked cannot have begun
      }
    }
  }

  /** Asks on a thread of its own; closing the connection ends the wait. */
  private static void ask(PeerConnection prefill, Room room, CompletableFuture<PeerMessage> answer,
      Deadline deadline) {
    Thread.ofVirtual().name("gatun-asks " + room.transferId()).start(() -> {
      try {
        answer.complete(prefill.ask(room, deadline));
      } catch (IOException | RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    });
  }

  private static PeerMessage get(CompletableFuture<PeerMessage> answer, Deadline deadline) throws IOException {
    try {
      return answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IOException e) throw e;
      throw new IllegalStateException(failed.getCause());
    } catch (TimeoutException late) {
      throw new IOException("no answer by the deadline", late);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the wait for its answer was interrupted", e);
    }
  }
}
