package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A connector that answers what a test tells it to, for answers that no working connector gives. */
final class ScriptedConnector implements KvConnector, SchedulerConnector, WorkerConnector {
  private final String name;
  Function<KvRequest, PrefixLookup> lookups = request -> new PrefixLookup.Found(0);
  RequestEnd end = RequestEnd.NOW;
  FinishedTransfers transfers = FinishedTransfers.NONE;
  List<String> freed = List.of();
  boolean throwing;
  ResetReport.Outcome outcome = ResetReport.Outcome.RESET;
  final List<String> calls = new ArrayList<>();

  ScriptedConnector(String name) {
    this.name = name;
  }

  private void call(String what) {
    calls.add(what);
    if (throwing) throw new IllegalStateException(name + " is broken");
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public SchedulerConnector scheduler() {
    return this;
  }

  @Override
  public WorkerConnector worker() {
    return this;
  }

  @Override
  public PrefixLookup lookup(KvRequest request, int computedBlocks) {
    call("lookup");
    return lookups.apply(request);
  }

  @Override
  public void allocated(KvRequest request, BlockTable blocks, int loadBlocks) {
    call("allocated " + loadBlocks);
  }

  @Override
  public ConnectorPlan plan(List<ScheduledRequest> step) {
    call("plan");
    return () -> false;
  }

  @Override
  public RequestEnd finished(KvRequest request, BlockTable blocks, int computedBlocks) {
    call("finished");
    return end;
  }

  @Override
  public List<String> update(FinishedTransfers reported) {
    call("update " + reported.loads().size() + ' ' + reported.saves().size());
    return freed;
  }

  @Override
  public void registerCache(BlockPool cache) {
    call("registerCache");
  }

  @Override
  public void startLoad(ConnectorPlan plan) {
    call("startLoad");
  }

  @Override
  public boolean awaitLoads(Deadline deadline) {
    call("awaitLoads");
    return true;
  }

  @Override
  public void save(ConnectorPlan plan) {
    call("save");
  }

  @Override
  public boolean awaitSaves(Deadline deadline) {
    call("awaitSaves");
    return true;
  }

  @Override
  public FinishedTransfers finished() {
    call("finished");
    return transfers;
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    call("resetCache " + next.version());
    return new ResetReport(name, ConnectorSide.WORKER, outcome, "scripted", Optional.empty(), List.of());
  }

  @Override
  public ConnectorStats stats() {
    call("stats");
    return new ConnectorStats(name, ConnectorSide.WORKER, Map.of("transfers", 3L), List.of());
  }

  @Override
  public void close() {
    call("close");
  }
}
