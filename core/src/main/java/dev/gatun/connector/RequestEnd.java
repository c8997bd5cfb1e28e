package dev.gatun.connector;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the end of a request means for its blocks.
 *
 * @param mayFree whether the host may release them now; else {@link SchedulerConnector#update} names the request later
 * @param transferParams what the host returns to its router for the next process; empty for stores
 */
public record RequestEnd(boolean mayFree, Map<String, ? extends @Nullable Object> transferParams) {
  /** Release now, nothing to tell. */
  public static final RequestEnd NOW = new RequestEnd(true, Map.of());
  /** Release when told, nothing to tell. */
  public static final RequestEnd LATER = new RequestEnd(false, Map.of());

  /** Makes the map immutable. */
  public RequestEnd {
    transferParams = PlainValues.shallow(transferParams);
  }
}
