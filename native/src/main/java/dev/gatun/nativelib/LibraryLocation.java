package dev.gatun.nativelib;

import java.nio.file.Path;
import java.util.List;

/**
 * Where a library set was found.
 *
 * @param loadOrder files to load, dependencies first, at least one
 * @param chosenFrom the setting or place that named them, for reports
 * @param tried places that were looked at before, in order, and why each was passed over
 */
public record LibraryLocation(List<Path> loadOrder, String chosenFrom, List<String> tried) {
  /** Checks and copies the lists. */
  public LibraryLocation {
    if (loadOrder.isEmpty()) throw new IllegalArgumentException("loadOrder must name at least one library");
    loadOrder = List.copyOf(loadOrder);
    tried = List.copyOf(tried);
  }
}
