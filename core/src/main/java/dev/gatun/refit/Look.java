package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreCensus.Reading;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a store and its master say after the removal.
 *
 * @param canarySizes what the store answers about each planted canary
 * @param listed complete objects, by name
 * @param ofNewEpoch how many of them carry the new epoch
 * @param reading the master's counters, read last: they count complete objects and puts in flight alike
 * @param problem why there is no reading; empty if there is one, or no census
 */
record Look(List<Long> canarySizes, List<String> listed, long ofNewEpoch, @Nullable Reading reading, String problem) {
  // most keys listed to name leftovers and to tell their epoch; unmeasured default
  private static final int LISTED_MAX = 4096;

  static Look at(StorePort port, List<Canary> canaries, WeightEpoch epoch, Deadline deadline) {
    List<Long> sizes = new ArrayList<>();
    for (Canary canary : canaries) {
      if (canary.planted()) sizes.add(port.store().sizeOfCanary(canary.key()));
    }
    if (!port.hasCensus()) return new Look(sizes, List.of(), 0, null, "");
    try {
      List<String> listed = port.keys(LISTED_MAX, deadline);
      long ofNewEpoch = listed.stream().filter(key -> port.store().carriesEpoch(key, epoch)).count();
      return new Look(sizes, listed, ofNewEpoch, port.read(deadline), "");
    } catch (RuntimeException e) {
      return new Look(sizes, List.of(), 0, null, "the census could not be read: " + e.getMessage());
    }
  }

  void into(StoreTrace trace) {
    trace.after = reading;
    trace.listed = listed;
    trace.ofNewEpoch = ofNewEpoch;
    if (!problem.isEmpty()) trace.unproven(problem);
    for (long size : canarySizes) {
      if (size >= 0) trace.unremoved("the canary survived the removal");
      else if (size != StoreCode.OBJECT_NOT_FOUND.raw()) {
        trace.unproven("asking for the canary answered " + Codes.text(size));
      }
    }
    trace.canaryGone = !canarySizes.isEmpty()
        && canarySizes.stream().allMatch(size -> size == StoreCode.OBJECT_NOT_FOUND.raw());
  }
}
