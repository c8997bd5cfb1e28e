package dev.gatun.transfer.device;

import dev.gatun.backend.GatunException;
import java.util.List;
import java.util.stream.Collectors;

/** No path that may be taken is there. */
public final class PathUnavailableException extends GatunException {
  private static final long serialVersionUID = 1L;

  private final transient List<PathRefusal> refusals;

  PathUnavailableException(String what, List<PathRefusal> refusals) {
    super(what + ": " + refusals.stream().map(PathRefusal::toString).collect(Collectors.joining("; ")));
    this.refusals = List.copyOf(refusals);
  }

  /** {@return why not, each path that could have been taken} */
  public List<PathRefusal> refusals() {
    return refusals;
  }
}
