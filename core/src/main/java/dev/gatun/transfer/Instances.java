package dev.gatun.transfer;

import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.SegmentDescriptor;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The last engine of each name that peers have told of. Usable by any thread. */
final class Instances {
  private final Map<String, EngineInstance> last = new HashMap<>();

  /** Refuses what is known to be the past. */
  synchronized void requireCurrent(String operation, SegmentDescriptor descriptor) {
    EngineInstance told = descriptor.instance().orElse(null);
    EngineInstance known = last.get(descriptor.name());
    if (told == null || known == null || !told.isBefore(known)) return;
    throw new PeerRestartedException(operation + ' ' + descriptor.name()
        + " refused: the descriptor is of an engine that has ended; another has its name, started later by its machine's clock."
        + " Get a new descriptor");
  }

  /** Takes note of a peer that was reached. {@return the last engine of its name, none if the peer does not say which it is} */
  synchronized Optional<EngineInstance> know(SegmentDescriptor descriptor) {
    return descriptor.instance().map(
        told -> last.merge(descriptor.name(), told, (known, heard) -> heard.isBefore(known) ? known : heard));
  }
}
