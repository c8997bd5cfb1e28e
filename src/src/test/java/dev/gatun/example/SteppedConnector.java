package dev.gatun.example;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.ConnectorPlan;
import dev.gatun.connector.ConnectorStats;
import dev.gatun.connector.FinishedTransfers;
import dev.gatun.connector.KvConnector;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.PrefixLookup;
import dev.gatun.connector.RequestEnd;
import dev.gatun.connector.ResetReport;
import dev.gatun.connector.ScheduledRequest;
import dev.gatun.connector.SchedulerConnector;
import dev.gatun.connector.WorkerConnector;
import java.util.List;

/** A connector that runs something on the host's own thread before each step in which there is a request. */
final class SteppedConnector implements KvConnector, SchedulerConnector {
  private final KvConnector inner;
  Runnable before = () -> {};

  SteppedConnector(KvConnector inner) {
    this.inner = inner;
  }

  @Override
  public String name() {
    return inner.name();
  }

  @Override
  public SchedulerConnector scheduler() {
    return this;
  }

  @Override
  public WorkerConnector worker() {
    return inner.worker();
  }

  @Override
  public ConnectorPlan plan(List<ScheduledRequest> step) {
    if (!step.isEmpty()) before.run();
    return inner.scheduler().plan(step);
  }

  @Override
  public PrefixLookup lookup(KvRequest request, int computedBlocks) {
    return inner.scheduler().lookup(request, computedBlocks);
  }

  @Override
  public void allocated(KvRequest request, BlockTable blocks, int loadBlocks) {
    inner.scheduler().allocated(request, blocks, loadBlocks);
  }

  @Override
  public RequestEnd finished(KvRequest request, BlockTable blocks, int computedBlocks) {
    return inner.scheduler().finished(request, blocks, computedBlocks);
  }

  @Override
  public List<String> update(FinishedTransfers transfers) {
    return inner.scheduler().update(transfers);
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return inner.scheduler().resetCache(next);
  }

  @Override
  public ConnectorStats stats() {
    return inner.scheduler().stats();
  }

  @Override
  public void close() {
    inner.close();
  }
}
