package dev.gatun.nativelib;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * Keeps a Mooncake store from taking over the process's signals: when the first store is created, the library looks for
 * the symbol {@code Py_IsInitialized} and leaves signals alone when it finds it. Load the store library, open the
 * marker, create the store, close the marker.
 *
 * <p>Only the store's own libraries ever see the symbol, since the marker is linked to the store and opened after it,
 * which puts it into their search scope and into no other. A marker that is visible to all would stay so: the loader
 * keeps a library for as long as one lives that found a symbol in it. A Python loaded later finds its own symbol.
 *
 * <p>Any thread.
 */
public final class SignalMarker implements AutoCloseable {
  private static final String STORE_SONAME = "libmooncake_store.so";

  private MemorySegment handle;

  private SignalMarker(MemorySegment handle) {
    this.handle = handle;
  }

  /**
   * Shows the symbol to the store library, which must have been loaded.
   *
   * @return the open marker
   * @throws LibraryUnavailableException if the store is not loaded or the marker library is missing; do what the message
   *         says
   */
  public static SignalMarker open() {
    LibC libc = LibC.get();
    MemorySegment store = libc.dlopen(STORE_SONAME, LibC.RTLD_NOW | LibC.RTLD_NOLOAD);
    if (store.address() == 0) {
      // the marker must not make the loader fetch a store from somewhere else
      throw new LibraryUnavailableException("no library with the soname " + STORE_SONAME + " is loaded", List.of(),
          "load the store library before opening the marker; if its build has another soname: patchelf --set-soname "
              + STORE_SONAME + " FILE");
    }
    libc.dlclose(store);
    Path library = NativeLibraries.locateMarker().loadOrder().getFirst();
    return new SignalMarker(DynamicLoader.open(library, LibC.RTLD_NOW));
  }

  /** Lets the marker go; the store keeps it if it looked. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (handle.address() == 0) return;
    LibC.get().dlclose(handle);
    handle = MemorySegment.NULL;
  }
}
