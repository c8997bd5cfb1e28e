package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Source;
import dev.gatun.connector.PeerMessage.Forget;
import java.io.IOException;
import java.time.Duration;

/** Tells prefill that nobody wants a transfer any more, so that its blocks are free at once and not after its own time. */
final class GiveUps {
  // 5 s: a peer that is there answers at once
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final BootstrapClient bootstrap;
  private final Counts counts;

  GiveUps(BootstrapClient bootstrap, Counts counts) {
    this.bootstrap = bootstrap;
    this.counts = counts;
  }

  /** Does not wait; a peer that cannot be told frees the blocks after its own time. */
  void send(Source source) {
    counts.add("give_ups", 1);
    Thread.ofVirtual().name("gatun-give-up " + source.transferId()).start(() -> tell(source));
  }

  private void tell(Source source) {
    Deadline deadline = Deadline.after(LIMIT);
    try (PeerConnection prefill = PeerConnection.open(worker(source, deadline), deadline)) {
      prefill.ask(new Forget(source.transferId()), deadline);
    } catch (IOException unreachable) {
      counts.add("give_ups_lost", 1);
    }
  }

  private HostPort worker(Source source, Deadline deadline) throws IOException {
    if (source.bootstrap().isEmpty()) return source.worker();
    return bootstrap.worker(source, deadline, waker -> {});
  }
}
