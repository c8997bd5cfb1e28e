package dev.gatun.cli.replay;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.Quiescable;
import java.util.List;

/**
 * A store as the gate of a replica sees it whose removals another process does for all: it takes part in closing and
 * draining, and is no {@code RefitStore} that a coordinator would clear.
 *
 * @param store what it stands for
 */
record FencedPart(Quiescable store) implements Quiescable {

  @Override
  public String name() {
    return store.name();
  }

  @Override
  public int failQueued() {
    return store.failQueued();
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return store.drain(deadline);
  }

  @Override
  public void clearLocal() {
    store.clearLocal();
  }
}
