package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreException;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.KeyOwners;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.refit.RefitReport;
import dev.gatun.store.KvStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The store of a fleet in one attempt, through a client of its own. Each call comes back by its deadline; what hangs in
 * native code is left behind.
 */
final class FleetStore implements AutoCloseable {
  // 100,000 are listed and told apart in well under a second; who has keys only behind them is not named
  private static final int LISTED_MAX = 100_000;

  private final FleetConfig config;
  private final EpochGate gate;
  private @Nullable BoundedCall<KvStore> opening;
  private @Nullable KvStore store;
  private String problem = "it was not opened";

  FleetStore(FleetConfig config) {
    this.config = config;
    WeightEpoch next = config.epoch();
    gate = new EpochGate(new WeightEpoch(next.run(), next.version() - 1));
  }

  /**
   * Connects, or goes on with it.
   *
   * @throws RuntimeException if no attempt of this process can reach the store: a library is missing, or cannot prove
   *     anything
   */
  void open(Deadline deadline) {
    if (store != null) return;
    BoundedCall<KvStore> call = opening;
    if (call == null) call = BoundedCall.start("opening the store", this::connect);
    opening = call;
    try {
      store = call.await(deadline);
      opening = null;
    } catch (GatunException unopened) {
      if (call.ended()) opening = null;
      problem = String.valueOf(unopened.getMessage());
      if (!unreachable(unopened)) throw unopened;
    }
  }

  private KvStore connect() {
    return KvStore.open(config.store(), config.keys(), gate, Observer.NONE);
  }

  private static boolean unreachable(GatunException unopened) {
    return unopened instanceof DeadlineException || unopened instanceof StoreException
        || unopened.getCause() instanceof StoreException || unopened.getCause() instanceof IOException;
  }

  /** The port for a sentinel, once the store is open and nothing hangs in it. */
  Optional<RefitStore> port() {
    return Optional.ofNullable(store).map(KvStore::refitPort);
  }

  /** Whose keys a removal of everything takes; empty if all are known to be one deployment's. */
  String warning(Deadline deadline) {
    KvStore opened = store;
    if (opened == null) return "whose keys the refit removes is not known: " + problem;
    try {
      KeyOwners owners = BoundedCall.start("listing keys", () -> owners(opened, deadline)).await(deadline);
      return owners.areOneAtMost() ? "" : "the refit removes everything on this master: " + owners;
    } catch (RuntimeException unlisted) { // a note: no refit fails for it
      return "whose keys the refit removes is not known: " + unlisted.getMessage();
    }
  }

  private static KeyOwners owners(KvStore opened, Deadline deadline) {
    StoreCensus census = opened.refitPort().census()
        .orElseThrow(() -> new GatunException("the store has no list of them"));
    return KeyOwners.of(census.keys(LISTED_MAX, deadline));
  }

  /** Empties the store and proves it, to the deadline. */
  StoreVerdict reset(boolean fenced, Deadline deadline) {
    open(share(deadline, 4));
    KvStore opened = store;
    if (opened == null) {
      Reach reach = reach(null, share(deadline, 2));
      return new StoreVerdict(RefitOutcome.UNVERIFIED, false, reach == Reach.SILENT,
          List.of(reach.unanswered(), problem), Optional.empty());
    }
    // a refit that hangs takes its deadline for the attempt and, were it verified, once more for the last look
    RefitPolicy policy = RefitPolicy.DEFAULT.withRequired(RefitOutcome.VERIFIED)
        .withOtherClients(fenced ? OtherClients.FENCED : OtherClients.UNFENCED)
        .withDeadline(Duration.ofNanos(Math.max(1, deadline.remainingNanos() * 2 / 5)));
    RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(opened.refitPort()), policy, Observer.NONE);
    RefitReport report = coordinator.refit(config.epoch());
    if (report.outcome() == RefitOutcome.VERIFIED) {
      return new StoreVerdict(RefitOutcome.VERIFIED, true, false, List.of(), Optional.of(report));
    }
    Reach reach = reach(opened, share(deadline, 2));
    List<String> reasons = new ArrayList<>(report.reasons());
    if (reach != Reach.ANSWERS) reasons.addFirst(reach.unanswered());
    boolean unasked = reach != Reach.ANSWERS && report.outcome() == RefitOutcome.FAILED;
    return new StoreVerdict(unasked ? RefitOutcome.UNVERIFIED : report.outcome(), reach == Reach.ANSWERS,
        reach == Reach.SILENT || !coordinator.unfinished().isEmpty(), reasons, Optional.of(report));
  }

  private enum Reach {
    ANSWERS("there"), GONE("gone"), SILENT("silent, and may carry out late what it was sent");

    private final String text;

    Reach(String text) {
      this.text = text;
    }

    String unanswered() {
      return "the store does not answer: its master is " + text;
    }
  }

  /** A master whose port refuses connections is gone, and forgets what it was sent; any other may do it yet. */
  private Reach reach(@Nullable KvStore opened, Deadline deadline) {
    boolean answered = false;
    if (opened != null) {
      try {
        Deadline half = share(deadline, 2);
        if (BoundedCall.start("asking for its health", opened::health).await(half).healthy()) return Reach.ANSWERS;
        answered = true;
      } catch (DeadlineException hangs) {
        // a client that hangs says nothing of its master
      }
    }
    return isGone(answered, deadline) ? Reach.GONE : Reach.SILENT;
  }

  /** The embedded library has no port: it answers, or it hangs. */
  private boolean isGone(boolean answered, Deadline deadline) {
    if (config.store().library().equals(StoreOptions.LOOPBACK)) return answered;
    return MasterPort.refuses(config.store().master(), deadline);
  }

  static Deadline share(Deadline deadline, int parts) {
    return Deadline.after(Duration.ofNanos(deadline.remainingNanos() / parts));
  }

  /** Closes in the background: what hangs in native code may take as long as it likes. */
  @Override
  public void close() {
    BoundedCall<KvStore> late = opening;
    if (late != null && !late.ended()) {
      BoundedCall.start("closing a store that opens late", () -> late.await(closing()).close(closing()));
    }
    KvStore opened = store;
    if (opened != null) BoundedCall.start("closing the store", () -> opened.close(closing()));
  }

  private Deadline closing() {
    return Deadline.after(config.store().closeTimeout());
  }
}
