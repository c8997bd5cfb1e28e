package dev.gatun.nativelib;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Locates the libraries. Nothing is remembered and nothing happens in a static initialiser: a call that failed fails
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
  private static Path existing(String value, String setting) {
    Path file = Path.of(value).toAbsolutePath();
    if (Files.isRegularFile(file)) return file;
    throw new LibraryUnavailableException(setting + " names a file that does not exist: " + file, List.of(),
        "correct or remove " + setting);
  }
}
