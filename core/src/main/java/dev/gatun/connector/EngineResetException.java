package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import java.util.ArrayList;
import java.util.List;

/** A reset of a host that left something of earlier weights; {@link #reset} says what. Make the same call again. */
public final class EngineResetException extends GatunException {
  private static final long serialVersionUID = 1L;

  private final transient EngineReset reset;

  /**
   * Creates the exception.
   *
   * @param reset what was done
   */
  public EngineResetException(EngineReset reset) {
    super("reset to " + reset.epoch() + " failed: " + String.join("; ", failures(reset)));
    this.reset = reset;
  }

  private static List<String> failures(EngineReset reset) {
    List<String> lines = new ArrayList<>();
    if (!reset.ownCache().isEmpty()) lines.add("own cache: " + reset.ownCache());
    for (ResetReport report : reset.connector()) {
      if (!report.succeeded()) lines.add(report.connector() + ' ' + report.side() + ": " + report.detail());
    }
    return lines;
  }

  /** {@return what was done; null only after this exception was serialised} */
  public EngineReset reset() {
    return reset;
  }
}
