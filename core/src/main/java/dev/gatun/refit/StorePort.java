package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreCensus.Reading;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A store of one replica, with the lane on which it is called. Lives as long as the coordinator. */
final class StorePort {
  // the first look happens in the background and must not hold up the first refit; unmeasured default
  private static final Duration FIRST_LOOK = Duration.ofSeconds(2);

  private final RefitStore store;
  private final Lane lane;
  private final String name;
  private final boolean epochInKey;
  private final Optional<StoreCensus> census;
  private final Lane.Call<Optional<Reading>> firstLook;

  StorePort(RefitStore store) {
    this.store = store;
    name = store.name();
    epochInKey = store.epochInKey();
    census = store.census();
    lane = new Lane(name);
    firstLook = lane.start("census", () -> census.map(source -> source.read(Deadline.after(FIRST_LOOK))));
  }

  RefitStore store() {
    return store;
  }

  Lane lane() {
    return lane;
  }

  String name() {
    return name;
  }

  boolean epochInKey() {
    return epochInKey;
  }

  boolean hasCensus() {
    return census.isPresent();
  }

  Reading read(Deadline deadline) {
    return census.orElseThrow().read(deadline);
  }

  /** What the master's counters leave out. */
  List<String> uncounted(Deadline deadline) {
    return census.orElseThrow().uncounted(deadline);
  }

  List<String> keys(int limit, Deadline deadline) {
    return census.orElseThrow().keys(limit, deadline);
  }

  /** Names the master; stores with the same one share its objects and counters. Empty if unknown. */
  String master() {
    return census.map(StoreCensus::source).orElse("");
  }

  /** The master's counters when this port was made, if they could be had. */
  Optional<Reading> firstLook(Deadline deadline) {
    return firstLook.await(deadline).value().flatMap(reading -> reading);
  }
}
