package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OtherClients;

/**
 * Empties a part of a master that also holds data of others, which stay: a namespace, the epochs below one, or all keys
 * that begin with a text. It touches no gate: whoever puts into what is removed must have stopped before.
 *
 * <p>The master's count says nothing of one namespace while keys of others are there, so this is what proves it: a canary
 * in the namespace was listed, and is gone; and at a moment in which no counter moved, the master listed as many keys as it
 * counts, each known to it, so that no put was in flight, and none of them was of the namespace. On a master that others use without a pause
 * there may be no such moment: then the outcome is not VERIFIED, though nothing was seen to be left.
 *
 * <p>One thread at a time. A call that never returns stays behind on a thread of its own.
 */
public final class NamespaceReset {
  private final RefitStore store;
  private final RefitPolicy policy;
  private final Lane lane;

  /**
   * Prepares resets of one master.
   *
   * @param store a client of it, with any codec
   * @param policy its deadline, passes, names of leftovers; and other clients, of what is removed alone
   */
  public NamespaceReset(RefitStore store, RefitPolicy policy) {
    this.store = store;
    this.policy = policy;
    lane = new Lane(store.name() + " namespace");
  }

  /**
   * Removes all keys of a namespace, of every run and epoch, and whatever else begins with its name and a slash. Blocks,
   * up to the policy's deadline.
   *
   * @param namespace of the keys, see {@link dev.gatun.codec.GatunKey}
   * @return VERIFIED; UNVERIFIED if something that would prove it is missing; FAILED if keys are left or the removal
   *     failed
   * @throws IllegalArgumentException if the namespace is none
   */
  public NamespaceReport namespace(String namespace) {
    return run(KeyScope.namespace(namespace));
  }

  /**
   * Removes all keys that begin with a text, such as {@code tenant@} for engines with that cache prefix. Blocks, up to the
   * policy's deadline.
   *
   * @param prefix taken literally, not empty
   * @return as {@link #namespace}
   * @throws IllegalArgumentException if the prefix is empty
   */
  public NamespaceReport prefix(String prefix) {
    return run(KeyScope.prefix(prefix));
  }

  /**
   * Removes the keys of a run's older weights. Hosts at the epoch or above may go on: they cannot ask for what is removed.
   * Blocks, up to the policy's deadline.
   *
   * @param namespace of the keys, see {@link dev.gatun.codec.GatunKey}
   * @param keep the lowest epoch that stays, its version 1 or more; other runs stay as well
   * @return VERIFIED; else ISOLATED, since nobody at the epoch can ask for what may be left
   * @throws IllegalArgumentException if the namespace is none, or no epoch is below
   * @throws IllegalStateException if the store cannot list keys: give it the master's administration
   */
  public NamespaceReport below(String namespace, WeightEpoch keep) {
    if (store.census().isEmpty()) {
      throw new IllegalStateException("keys below " + keep + " cannot be found: " + store.name()
          + " has no administration of the master that lists them");
    }
    return run(KeyScope.below(namespace, keep));
  }

  private NamespaceReport run(KeyScope scope) {
    long started = System.nanoTime();
    Deadline deadline = Deadline.after(policy.deadline());
    NamespaceFindings found = new NamespaceFindings();
    if (policy.otherClients() == OtherClients.UNFENCED) {
      found.unproven("other clients put there and nobody stops them: their puts may land after any proof");
    }
    NamespaceRun work = new NamespaceRun(store, scope, policy.passesMax(), Lane.inner(deadline), found);
    Answer<Boolean> answer = lane.start("reset of " + scope.name(), () -> {
      work.run();
      return true;
    }).await(deadline);
    answer.then(done -> {}, problem -> found.unremoved(
        problem + (answer.pending() ? "; it may run late, and then tears reads that are under way" : "")));
    return found.report(scope, policy.leftoversMax(), System.nanoTime() - started);
  }
}
