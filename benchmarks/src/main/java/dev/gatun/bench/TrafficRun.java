package dev.gatun.bench;

import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.Refit;
import dev.gatun.refit.RefitGroup;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.refit.RefitReport;
import dev.gatun.store.KeyCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Refits of four hosts, with a foreign writer beside them and an oracle that reads along. */
final class TrafficRun implements AutoCloseable {
  private static final int CLIENTS = 4;
  private static final String RUN = "traffic";
  private static final long POLL_NANOS = 50_000;
  private static final long WAIT_NANOS = TimeUnit.MINUTES.toNanos(2);
  // longer than a refit of the embedded library takes, shorter than one of a real Mooncake
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final List<TrafficClient> clients = new ArrayList<>();
  private final ForeignWriter writer;
  private final EpochOracle oracle;
  private final RefitGroup group;
  private final SplittableRandom random;
  private final TrafficTally tally = new TrafficTally();
  private long version = 1;

  /**
   * Starts everybody.
   *
   * @param options of clients without memory
   * @param codec of the hosts and of the foreign writer
   * @param others as the refits are told of the foreign writer
   */
  TrafficRun(StoreOptions options, KeyCodec codec, RefitPolicy.OtherClients others, long seed) {
    random = new SplittableRandom(seed);
    RefitPolicy policy = RefitPolicy.DEFAULT.withOtherClients(others).withDeadline(Duration.ofSeconds(20));
    for (int i = 0; i < CLIENTS; i++)
      clients.add(new TrafficClient(options, codec, epoch(), policy, random.nextLong()));
    group = new RefitGroup(policy, clients.stream().map(TrafficClient::coordinator).toList());
    writer = new ForeignWriter(options, codec, epoch(), random.nextLong());
    oracle = new EpochOracle(options);
    writer.go();
  }

  private WeightEpoch epoch() {
    return new WeightEpoch(RUN, version);
  }

  /** The writer is stopped for each refit and learns the new weights: before it begins, or while it runs. */
  TrafficTally stopping(int refits) {
    awaitTraffic(true);
    for (int i = 0; i < refits; i++) {
      version++;
      boolean before = random.nextBoolean();
      CompletableFuture<Void> quiet = writer.quiesceAfter(before ? 0 : random.nextLong(LATE_NANOS));
      if (before) quiet.join();
      RefitReport report = refit(quiet);
      oracle.expect(version);
      if (!report.open()) recover(before, report);
      writer.learn(epoch());
      writer.go();
      awaitTraffic(true);
      tally.stopped(before, report, report.open() && oracle.sawOlder());
    }
    return total();
  }

  /** Weights are loaded, and the gates opened, only once the writer is quiet. */
  private RefitReport refit(CompletableFuture<Void> quiet) {
    try (Refit refit = group.begin(epoch())) {
      refit.clear();
      quiet.join();
      return refit.open();
    }
  }

  private void recover(boolean before, RefitReport report) {
    awaitSweeps();
    if (oracle.sawOlder()) tally.olderAfterUnproven();
    RefitReport again = group.refit(epoch());
    if (again.outcome() != RefitOutcome.VERIFIED) {
      throw new IllegalStateException("not verified with the writer quiet (" + (before ? "before" : "since") + "):\n"
          + report.text() + again.text());
    }
    oracle.expect(version);
  }

  /**
   * The writer is never stopped, and learns new weights long after the others.
   *
   * @param open whether the outcome opens the gates, so that the hosts go on
   */
  TrafficTally straggling(int refits, boolean open) {
    awaitTraffic(true);
    for (int i = 0; i < refits; i++) {
      version++;
      RefitReport report = group.refit(epoch());
      if (report.open() != open) throw new IllegalStateException(report.text());
      oracle.expect(version);
      awaitTraffic(open);
      tally.straggled(report, oracle.sawOlder());
      writer.quiesce();
      writer.learn(epoch());
      writer.go();
    }
    return total();
  }

  private TrafficTally total() {
    tally.traffic(clients.stream().mapToLong(TrafficClient::puts).sum(),
        clients.stream().mapToLong(TrafficClient::hits).sum(), clients.stream().mapToLong(TrafficClient::stale).sum(),
        clients.stream().mapToLong(TrafficClient::refused).sum(), writer.puts(), oracle.pages());
    return tally;
  }

  /** Every host has put and been served, the writer has put, and the oracle has been through all keys. */
  private void awaitTraffic(boolean hosts) {
    long written = writer.puts();
    List<Long> puts = clients.stream().map(TrafficClient::puts).toList();
    List<Long> hits = clients.stream().map(TrafficClient::hits).toList();
    awaitSweeps();
    await(() -> writer.puts() > written);
    for (int i = 0; hosts && i < clients.size(); i++) {
      TrafficClient client = clients.get(i);
      long put = puts.get(i);
      long hit = hits.get(i);
      await(() -> client.hits() > hit && client.puts() > put);
    }
  }

  private void awaitSweeps() {
    long before = oracle.sweeps();
    await(() -> oracle.sweeps() >= before + 2); // one may have begun earlier
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + WAIT_NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) throw new IllegalStateException("no traffic");
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  @Override
  public void close() {
    writer.close();
    oracle.close();
    clients.forEach(TrafficClient::close);
  }
}
