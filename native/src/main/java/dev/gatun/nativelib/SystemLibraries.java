package dev.gatun.nativelib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Libraries of this system, found as the dynamic loader finds them. They stay loaded. */
final class SystemLibraries {
  private final List<MemorySegment> handles;

  private SystemLibraries(List<MemorySegment> handles) {
    this.handles = handles;
  }

  /** Finds all, or names every missing one and the line that installs them together. */
  static SystemLibraries require(List<String> sonames) {
    List<MemorySegment> handles = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String soname : sonames) {
      MemorySegment handle = LibC.get().dlopen(soname, LibC.RTLD_NOW);
      if (handle.address() == 0) missing.add(soname);
      else
        handles.add(handle);
    }
    if (missing.isEmpty()) return new SystemLibraries(handles);
    throw new LibraryUnavailableException("system libraries are missing: " + String.join(", ", missing),
        missing.stream().map(soname -> "dynamic loader, " + soname + ": not found").toList(),
        missing.stream().map(DynamicLoader::fixForMissing).collect(Collectors.joining("; ")));
  }

  boolean defines(String symbol) {
    return handles.stream().anyMatch(handle -> LibC.get().dlsym(handle, symbol).address() != 0);
  }
}
