package dev.gatun.refit;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.WeightEpoch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A scripted store over a {@link FakeMaster}. Points of its script: {@code removeAll}, {@code removePrefix}, {@code canary}, {@code size},
 * {@code drain}, {@code clearLocal}, {@code doubts}, and {@code put}, between sending and arriving.
 */
final class FakeStore implements RefitStore {
  final Script script = new Script();
  private final String name;
  private final FakeMaster master;
  private final EpochGate gate;
  private final boolean epochInKey;
  private final AtomicLong sent = new AtomicLong();
  private final List<String> doubts = new ArrayList<>();
  private Optional<StoreCensus> census;
  private volatile boolean closed;
  private volatile int queued;
  private final AtomicLong cleared = new AtomicLong();

  FakeStore(String name, FakeMaster master, EpochGate gate, boolean epochInKey) {
    this.name = name;
    this.master = master;
    this.gate = gate;
    this.epochInKey = epochInKey;
    census = Optional.of(master);
    gate.register(this);
  }

  FakeStore withoutCensus() {
    census = Optional.empty();
    return this;
  }

  /** Somebody configured the administration of another master. */
  FakeStore withCensusOf(StoreCensus other) {
    census = Optional.of(other);
    return this;
  }

  FakeStore doubting(String doubt) {
    doubts.add(doubt);
    return this;
  }

  /** An ordinary put, through the gate. */
  int put(String logical) {
    int ticket = gate.enter("put");
    try {
      WeightEpoch epoch = gate.epoch(ticket);
      sent.incrementAndGet();
      script.hit("put");
      return master.put(key(logical, epoch), epoch);
    } finally {
      gate.exit(ticket);
    }
  }

  /** Whether an ordinary get would find the page. */
  boolean hit(String logical) {
    int ticket = gate.enter("get");
    try {
      return master.size(key(logical, gate.epoch(ticket))) > 0;
    } finally {
      gate.exit(ticket);
    }
  }

  String key(String logical, WeightEpoch epoch) {
    return epochInKey ? prefix(epoch) + logical : "ns//" + logical;
  }

  void queue(int operations) {
    queued = operations;
  }

  long timesCleared() {
    return cleared.get();
  }

  void close() {
    closed = true;
    gate.unregister(this);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int failQueued() {
    int failed = queued;
    queued = 0;
    return failed;
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return script.hit("drain").isPresent() ? List.of("get of 3 pages in batch 17") : List.of();
  }

  @Override
  public void clearLocal() {
    cleared.incrementAndGet();
    script.hit("clearLocal");
  }

  @Override
  public long removeAllForced() {
    refuseClosed();
    OptionalLong scripted = script.hit("removeAll");
    return scripted.isPresent() ? scripted.getAsLong() : master.removeAll();
  }

  @Override
  public long removePrefixForced(String prefix) {
    refuseClosed();
    OptionalLong scripted = script.hit("removePrefix");
    return scripted.isPresent() ? scripted.getAsLong() : master.removePrefix(prefix);
  }

  @Override
  public int putCanary(String key) {
    refuseClosed();
    sent.incrementAndGet();
    OptionalLong scripted = script.hit("canary");
    return scripted.isPresent() ? (int) scripted.getAsLong() : master.put(key, gate.epoch());
  }

  @Override
  public long sizeOfCanary(String key) {
    refuseClosed();
    OptionalLong scripted = script.hit("size");
    return scripted.isPresent() ? scripted.getAsLong() : master.size(key);
  }

  @Override
  public long keysSent() {
    return sent.get();
  }

  @Override
  public Optional<StoreCensus> census() {
    return census;
  }

  @Override
  public boolean epochInKey() {
    return epochInKey;
  }

  @Override
  public boolean carriesEpoch(String key, WeightEpoch epoch) {
    return epochInKey && key.startsWith(prefix(epoch));
  }

  @Override
  public List<String> doubts() {
    script.hit("doubts");
    return List.copyOf(doubts);
  }

  private static String prefix(WeightEpoch epoch) {
    return "ns/" + epoch.run() + '/' + epoch.version() + '/';
  }

  private void refuseClosed() {
    if (closed) throw new ClosedException(name + " was closed");
  }
}
