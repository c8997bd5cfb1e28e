package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.concurrent.CompletableFuture;

/** A batch that the poller waits for, on behalf of a future. */
final class AwaitedBatch implements Poller.Job {
  final CompletableFuture<TransferBatch> future = new CompletableFuture<>();
  private final TransferBatch batch;
  private final Deadline deadline;

  AwaitedBatch(TransferBatch batch, Deadline deadline) {
    this.batch = batch;
    this.deadline = deadline;
  }

  @Override
  public boolean urgent() {
    return true;
  }

  @Override
  public boolean step() {
    if (!batch.step() && !(deadline.reached() && batch.giveUp("its deadline came"))) return false;
    RuntimeException failure = batch.failure();
    int inDoubt = batch.inDoubt();
    if (failure != null) {
      future.completeExceptionally(failure);
    } else if (inDoubt > 0) {
      future.completeExceptionally(new DeadlineException(inDoubt + " of " + batch.size()
          + " requests had not ended at the deadline; their blocks stay in quarantine until they have"));
    } else {
      future.complete(batch);
    }
    return true;
  }

  @Override
  public String toString() {
    return batch.toString();
  }
}
