package dev.gatun.transfer.device;

import dev.gatun.transfer.HandoverOutcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Brings offers and the grants that ask for them together, whichever comes first. Usable by any thread; waits for nothing. */
final class Matches {
  // grants that ask for pages which are not computed yet: more than requests that any engine runs at once; unmeasured default
  private static final int WAITING_MAX = 65_536;

  private final Map<String, DeviceOffer> offers = new HashMap<>();
  private final Map<String, Incoming> waiting = new HashMap<>();

  /**
   * Takes an offer.
   *
   * @return the grant that waited for it, null if none has
   * @throws IllegalStateException if there is one of that name
   */
  synchronized @Nullable Incoming offered(DeviceOffer offer) {
    if (offers.containsKey(offer.name())) {
      throw new IllegalStateException("name must be of no open offer: " + offer.name());
    }
    Incoming asking = waiting.remove(offer.name());
    if (asking == null) offers.put(offer.name(), offer);
    return asking;
  }

  /** Takes a grant. {@return the offer that it asks for, null if it waits for one} */
  synchronized @Nullable DeviceOffer asked(Incoming grant) {
    DeviceOffer offer = offers.remove(grant.pages.name());
    if (offer != null) return offer;
    if (waiting.size() == WAITING_MAX || waiting.putIfAbsent(grant.pages.name(), grant) != null) {
      throw new IllegalStateException("another grant asks for " + grant.pages.name() + ", or " + WAITING_MAX + " wait");
    }
    return null;
  }

  /** Forgets a grant that waits. {@return whether it did} */
  synchronized boolean forget(Incoming grant) {
    return waiting.remove(grant.pages.name(), grant);
  }

  /** Forgets all grants of a receiver that wait. */
  synchronized void forget(SenderLink link) {
    waiting.values().removeIf(grant -> grant.link.equals(link));
  }

  synchronized void forget(DeviceOffer offer) {
    offers.remove(offer.name(), offer);
  }

  synchronized int offers() {
    return offers.size();
  }

  /** {@return all that waits, which is forgotten; the offers end} */
  synchronized List<Incoming> clear(String why) {
    offers.values().forEach(offer -> offer.end(HandoverOutcome.REVOKED, why));
    offers.clear();
    List<Incoming> asking = new ArrayList<>(waiting.values());
    waiting.clear();
    return asking;
  }

  synchronized void expire() {
    for (Iterator<DeviceOffer> left = offers.values().iterator(); left.hasNext();) {
      DeviceOffer offer = left.next();
      if (!offer.hasExpired()) continue;
      offer.end(HandoverOutcome.REVOKED, "nobody asked for it within its lease");
      left.remove();
    }
  }
}
