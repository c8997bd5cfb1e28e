package dev.gatun.nativelib;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

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
   * Shows the symbol to the store library, which must have been loaded under its usual soname.
   *
   * @return the open marker; see {@link #takesEffect()}
   * @throws LibraryUnavailableException if the marker library is missing; do what the message says
   */
  public static SignalMarker open() {
    LibC libc = LibC.get();
    MemorySegment store = libc.dlopen(STORE_SONAME, LibC.RTLD_NOW | LibC.RTLD_NOLOAD);
    // without it the loader would go and fetch a store from somewhere else, to satisfy the marker
    if (store.address() == 0) return new SignalMarker(MemorySegment.NULL);
    libc.dlclose(store);
    Path library = NativeLibraries.locateMarker().loadOrder().getFirst();
    return new SignalMarker(DynamicLoader.open(library, LibC.RTLD_NOW));
  }

  /**
   * {@return whether a store sees the symbol: no library with the soname {@code libmooncake_store.so} is loaded
   * otherwise, and the first store will take over INT, TERM, HUP and USR1}
   */
  public synchronized boolean takesEffect() {
    return handle.address() != 0;
  }

  /** Lets the marker go; the store keeps it if it looked. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (handle.address() == 0) return;
    LibC.get().dlclose(handle);
    handle = MemorySegment.NULL;
  }
}
