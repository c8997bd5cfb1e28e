package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.P2pPlan.Load;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;

/** Decode's side of a connector between processes: takes loads over, a few at a time, and gives up what fails. Any thread. */
final class P2pLoads {
  private final String name;
  private final Duration timeout;
  private final TransferLog log;
  private final Counts counts;
  private final GiveUps giveUps;
  private final Set<RunningLoad> running = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads;

  /** How pages come over. */
  interface Sink {
    /** Takes one load over. {@return why it failed, empty if every page is there} */
    String load(RunningLoad running, Deadline deadline);
  }

  P2pLoads(String name, Duration timeout, int threads, TransferLog log, Counts counts, GiveUps giveUps) {
    this.name = name;
    this.timeout = timeout;
    this.log = log;
    this.counts = counts;
    this.giveUps = giveUps;
    // what they call may block in native code, so they are no virtual threads
    this.threads = Executors.newFixedThreadPool(threads, Thread.ofPlatform().daemon().name("gatun-load-", 0).factory());
  }

  void start(Load load, Sink sink, long pageBytes) {
    log.beginLoad();
    counts.add("loads", 1);
    RunningLoad begun = new RunningLoad(load);
    running.add(begun);
    try {
      threads.execute(() -> end(begun, carry(begun, sink), pageBytes));
    } catch (RejectedExecutionException closed) {
      end(begun, "the connector is closed", pageBytes);
    } catch (Error noThread) {
      end(begun, noThread.toString(), pageBytes);
    }
  }

  /** Always answers: nobody would wait for a load whose thread has died. */
  private String carry(RunningLoad begun, Sink sink) {
    if (!begun.ending().isEmpty()) return begun.ending();
    String failure;
    try {
      failure = sink.load(begun, Deadline.after(timeout));
    } catch (RuntimeException | Error failed) {
      failure = failed.getMessage() == null || failed instanceof Error ? failed.toString() : failed.getMessage();
    }
    return failure.isEmpty() || begun.ending().isEmpty() ? failure : begun.ending();
  }

  private void end(RunningLoad ended, String failure, long pageBytes) {
    running.remove(ended);
    Load load = ended.load();
    int blocks = load.to() - load.from();
    if (failure.isEmpty()) {
      counts.add("blocks_loaded", blocks);
      counts.add("bytes_loaded", blocks * pageBytes);
    } else {
      counts.add("loads_failed", 1);
      giveUps.send(load.source());
    }
    List<Integer> missing = failure.isEmpty() ? List.of() : IntStream.range(load.from(), load.to()).boxed().toList();
    log.end(new FinishedTransfers.Load(name, load.request(), load.number(), missing, failure));
  }

  /** Ends what runs and what waits for its turn. {@return how many} */
  int endAll(String reason) {
    List<RunningLoad> ending = List.copyOf(running);
    ending.forEach(load -> load.end(reason));
    return ending.size();
  }

  /** Takes no more loads. */
  void close() {
    threads.shutdown();
    endAll("the connector is closed");
  }
}
