package dev.gatun.example;

/** Where the blocks of a host's requests came from. Written by the host's thread. */
public final class RequestCounts {
  /** Requests that began again because a refit came. */
  int restarted;
  /** Blocks found in the host's own cache. */
  int cached;
  /** Blocks loaded through the connector. */
  int loaded;
  /** Blocks that were found and could not be loaded. */
  int notLoaded;
  /** Blocks computed. */
  int computed;
  /** Lookups to which nobody could give an answer. */
  int lookupsFailed;

  @Override
  public String toString() {
    return "blocks cached " + cached + ", loaded " + loaded + ", not loaded " + notLoaded + ", computed " + computed
        + "; lookups failed " + lookupsFailed + "; requests restarted " + restarted;
  }
}
