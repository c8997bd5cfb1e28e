package dev.gatun.nativelib;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * While open, keeps a Mooncake store from taking over the process's signals: the store looks for the global symbol
 * {@code Py_IsInitialized} when the first one is created, and leaves signals alone when it finds it. Open before the
 * store library is loaded, close after the first store was created, so that a Python loaded later does not find it.
 *
 * <p>Any thread; one caller opens and closes.
 */
public final class SignalMarker implements AutoCloseable {
  private static final String SYMBOL = "Py_IsInitialized";

  private MemorySegment handle;

  private SignalMarker(MemorySegment handle) {
    this.handle = handle;
  }

  /**
   * Makes the symbol visible. A process that has it already, being a Python, stays as it is.
   *
   * @return the open marker
   * @throws LibraryUnavailableException if the marker library is missing or cannot be loaded; do what the message says
   */
  public static SignalMarker open() {
    LibC libc = LibC.get();
    if (isVisible()) return new SignalMarker(MemorySegment.NULL);
    Path library = NativeLibraries.locateMarker().loadOrder().getFirst();
    MemorySegment handle = DynamicLoader.open(library, LibC.RTLD_NOW | LibC.RTLD_GLOBAL);
    if (libc.dlsym(MemorySegment.NULL, SYMBOL).address() == 0) {
      throw new IllegalStateException(library + " was loaded but does not show " + SYMBOL);
    }
    return new SignalMarker(handle);
  }

  /** {@return whether a store created now would find the symbol and leave signals alone} */
  public static boolean isVisible() {
    return LibC.get().dlsym(MemorySegment.NULL, SYMBOL).address() != 0;
  }

  /** Hides the symbol again. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (handle.address() == 0) return;
    int code = LibC.get().dlclose(handle);
    if (code != 0) throw new IllegalStateException("dlclose of the marker library failed: " + LibC.get().dlerror());
    handle = MemorySegment.NULL;
  }
}
