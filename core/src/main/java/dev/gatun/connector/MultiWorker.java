package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** The moving side of a multi connector. */
final class MultiWorker implements WorkerConnector {
  private final List<KvConnector> children;
  private final ChildCalls calls = new ChildCalls(ConnectorSide.WORKER);

  MultiWorker(List<KvConnector> children) {
    this.children = children;
  }

  /** Every child has its turn; then the first that refused says so. What was registered ends with the connector. */
  @Override
  public void registerCache(BlockPool cache) {
    RuntimeException first = null;
    for (KvConnector child : children) {
      try {
        child.worker().registerCache(cache);
      } catch (RuntimeException refused) {
        if (first == null) first = refused;
        else
          first.addSuppressed(refused);
      }
    }
    if (first != null) throw first;
  }

  @Override
  public void startLoad(ConnectorPlan plan) {
    each(plan, WorkerConnector::startLoad);
  }

  @Override
  public void save(ConnectorPlan plan) {
    each(plan, WorkerConnector::save);
  }

  private void each(ConnectorPlan plan, BiConsumer<WorkerConnector, ConnectorPlan> call) {
    List<ConnectorPlan> plans = MultiPlan.of(plan).plans();
    if (plans.size() != children.size()) {
      throw new IllegalArgumentException("plan must be for " + children.size() + " connectors: " + plans.size());
    }
    for (int number = 0; number < plans.size(); number++) {
      ConnectorPlan own = plans.get(number);
      if (own.isEmpty()) continue;
      KvConnector child = children.get(number);
      calls.run(child.name(), () -> call.accept(child.worker(), own));
    }
  }

  @Override
  public boolean awaitLoads(Deadline deadline) {
    boolean all = true;
    for (KvConnector child : children)
      all &= calls.orElse(child.name(), false, () -> child.worker().awaitLoads(deadline));
    return all;
  }

  @Override
  public boolean awaitSaves(Deadline deadline) {
    boolean all = true;
    for (KvConnector child : children)
      all &= calls.orElse(child.name(), false, () -> child.worker().awaitSaves(deadline));
    return all;
  }

  @Override
  public FinishedTransfers finished() {
    List<FinishedTransfers.Load> loads = new ArrayList<>();
    List<FinishedTransfers.Save> saves = new ArrayList<>();
    for (int number = 0; number < children.size(); number++) {
      KvConnector child = children.get(number);
      FinishedTransfers own = calls.orElse(child.name(), FinishedTransfers.NONE, () -> child.worker().finished());
      FinishedTransfers marked = new ChildNumber(number).mark(own);
      loads.addAll(marked.loads());
      saves.addAll(marked.saves());
    }
    return new FinishedTransfers(loads, saves);
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return calls.reset(children, next, child -> child.worker().resetCache(next));
  }

  @Override
  public ConnectorStats stats() {
    return calls.stats(children, child -> child.worker().stats());
  }
}
