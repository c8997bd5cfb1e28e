package dev.gatun.nativelib;

import java.io.IOException;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Locates and loads the libraries. Nothing is remembered and nothing happens in a static initialiser: a call that failed fails
 * again with the same cause, or succeeds once the cause is mended.
 */
public final class NativeLibraries {
  private NativeLibraries() {}

  /**
   * Locates the embedded loopback library: the file named by system property {@code gatun.loopback.library}, else the
   * copy inside the jar, extracted to the per-user cache directory ({@code gatun.cache.dir}, else
   * {@code $XDG_CACHE_HOME/gatun}, else {@code ~/.cache/gatun}) and verified.
   *
   * <p>Any thread. Blocks on file I/O.
   *
   * @return one library
   * @throws LibraryUnavailableException if there is none, or the cache directory cannot be trusted; do what the message
   *         says
   */
  public static LibraryLocation locateLoopback() {
    return locateOwn("libgatun_loopback.so", "gatun.loopback.library");
  }

  /**
   * Locates the marker library that keeps a Mooncake store from taking over signals, as {@link #locateLoopback()} does;
   * its property is {@code gatun.marker.library}.
   *
   * @return one library
   * @throws LibraryUnavailableException if there is none
   */
  public static LibraryLocation locateMarker() {
    return locateOwn("libgatun_marker.so", "gatun.marker.library");
  }

  /**
   * Locates the library that asks libibverbs about RDMA devices, as {@link #locateLoopback()} does; its property is
   * {@code gatun.verbs.shim}.
   *
   * @return one library
   * @throws LibraryUnavailableException if there is none
   */
  public static LibraryLocation locateVerbsShim() {
    return locateOwn("libgatun_verbs.so", "gatun.verbs.shim");
  }

  /**
   * {@return the libibverbs to open: the file named by system property {@code gatun.verbs.library}, else by the
   * environment variable {@code VERBS_LIBRARY}, else {@code libibverbs.so.1}, for the dynamic linker to find}
   *
   * @throws LibraryUnavailableException if a setting names a file that is no library
   */
  public static String verbsLibrary() {
    return VerbsSetting.of(System::getProperty, System::getenv);
  }

  /**
   * Locates a Mooncake: system properties {@code gatun.store.library} and {@code gatun.engine.library}, else the
   * environment variables {@code MOONCAKE_STORE_LIBRARY} and {@code MOONCAKE_ENGINE_LIBRARY}, else the runtime that
   * {@code gatun mooncake install} put into the cache directory, else {@code java.library.path}. The first place that
   * names a library is used for both, since store and engine must come from one build.
   *
   * <p>Any thread. Blocks on file I/O.
   *
   * @return libraries in load order
   * @throws LibraryUnavailableException if there is none, or a setting names a file that is none; do what the
   *         message says
   */
  public static LibraryLocation locateMooncake() {
    return new MooncakeLocator(System::getProperty, System::getenv, MooncakeRuntime::installed).locate();
  }

  /**
   * As {@link #locateMooncake()}, but with a library that the caller names.
   *
   * @param library the store library, or an engine library for programs that only transfer
   * @return that library
   * @throws LibraryUnavailableException if the file is no library
   */
  public static LibraryLocation locateMooncake(Path library) {
    return new LibraryLocation(List.of(existing(library.toString(), "library")), "given by the caller", List.of());
  }

  /**
   * Locates NIXL's C interface: system property {@code gatun.nixl.library}, else the environment variable
   * {@code NIXL_LIBRARY}, else the runtime that {@code gatun nixl install} put into the cache directory, else
   * {@code java.library.path}. What it is linked to must be where its own search path leads, and its plugins in the folder
   * {@code plugins} beside {@code libnixl.so}, or where the environment variable {@code NIXL_PLUGIN_DIR} says.
   *
   * <p>Any thread. Blocks on file I/O.
   *
   * @return one library
   * @throws LibraryUnavailableException if there is none, or a setting names a file that is none; do what the
   *         message says
   */
  public static LibraryLocation locateNixl() {
    return new NixlLocator(System::getProperty, System::getenv, NixlRuntime::installed).locate();
  }

  /**
   * As {@link #locateNixl()}, but with a library that the caller names.
   *
   * @param library {@code libnixl_capi.so}
   * @return that library
   * @throws LibraryUnavailableException if the file is no library
   */
  public static LibraryLocation locateNixl(Path library) {
    return new LibraryLocation(List.of(existing(library.toString(), "library")), "given by the caller", List.of());
  }

  /**
   * Loads libraries in order with all symbols resolved, so that whatever is missing is missing now and not at the first
   * put. They stay loaded until the process ends: they run threads of their own and cannot be unloaded.
   *
   * <p>Any thread. Blocks while the loader works.
   *
   * @param loadOrder files, dependencies first
   * @return symbols of all of them, the last library first
   * @throws LibraryUnavailableException if one cannot be loaded, with the loader's reason and what to install; or if the
   *         JVM denies native access, with the flag that grants it
   */
  public static SymbolLookup open(List<Path> loadOrder) {
    return DynamicLoader.openAll(loadOrder);
  }

  private static LibraryLocation locateOwn(String name, String property) {
    String explicit = System.getProperty(property);
    if (explicit != null) return new LibraryLocation(List.of(existing(explicit, property)), property, List.of());
    PackedLibraries packed = PackedLibraries.ofThisJar();
    if (!packed.contains(name)) {
      throw new LibraryUnavailableException(name + " is not available",
          List.of("system property " + property + ": not set", packed.source() + ": not in it"),
          "use a gatun-native jar built for " + PackedLibraries.platform() + ", or -D" + property + "=/path/to/"
              + name);
    }
    return new LibraryLocation(List.of(packed.extract(CacheDirectory.root(), name)), packed.source(),
        List.of("system property " + property + ": not set"));
  }

  // A setting that names a file is meant: falling through to another library would hide the mistake.
  static Path existing(String value, String setting) {
    Path file = Path.of(value).toAbsolutePath();
    String fix = "correct or remove " + setting;
    if (!Files.isRegularFile(file)) {
      throw new LibraryUnavailableException(setting + " names a file that does not exist: " + file, List.of(), fix);
    }
    try {
      if (ElfFile.isLibrary(file)) return file;
    } catch (IOException unreadable) {
      throw new LibraryUnavailableException(setting + " names a file that cannot be read: " + unreadable, List.of(),
          fix, unreadable);
    }
    throw new LibraryUnavailableException(setting + " names a file that is no shared library for "
        + PackedLibraries.platform() + ": " + file, List.of(), fix);
  }
}
