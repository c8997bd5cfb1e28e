package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.SegmentDescriptor;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Segments of peers by name, opened when first needed. */
final class Peers {
  // as long as an engine's own connect and greeting take at most; unmeasured default
  private static final Duration OPEN_MAX = Duration.ofSeconds(10);

  private final TransferEngine engine;
  private final Map<String, SegmentDescriptor> descriptors = new ConcurrentHashMap<>();
  private final Map<String, Segment> segments = new ConcurrentHashMap<>();

  Peers(TransferEngine engine) {
    this.engine = engine;
  }

  void know(SegmentDescriptor descriptor) {
    descriptors.put(descriptor.name(), descriptor);
  }

  boolean knows(String name) {
    return descriptors.containsKey(name);
  }

  Segment byName(String name) {
    SegmentDescriptor descriptor = descriptors.get(name);
    if (descriptor == null) {
      throw new EngineException("openSegment", EngineCode.METADATA, -1, name + ": it has not introduced itself");
    }
    Segment open = segments.get(name);
    return open != null ? open : open(descriptor, Deadline.after(OPEN_MAX));
  }

  /** Opens a peer, or takes note of what it has registered since. */
  synchronized Segment open(SegmentDescriptor descriptor, Deadline deadline) {
    know(descriptor);
    Segment open = segments.get(descriptor.name());
    if (open != null) {
      if (!open.descriptor().equals(descriptor)) engine.refresh(open, descriptor, deadline);
      return open;
    }
    Segment opened = engine.openSegment(descriptor, deadline);
    segments.put(descriptor.name(), opened);
    return opened;
  }

  /** The engine closes the segments that are in use. */
  void close() {
    segments.values().removeIf(segment -> {
      if (segment.inFlight() == 0) segment.close();
      return true;
    });
  }
}
