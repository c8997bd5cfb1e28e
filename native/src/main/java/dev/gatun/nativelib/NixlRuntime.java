package dev.gatun.nativelib;

import java.nio.file.Path;
import java.util.Optional;

/** An installed NIXL: complete, and unchanged since {@link NixlInstaller} put it there. */
public final class NixlRuntime {
  private final Path root;
  private final String version;

  NixlRuntime(Path root, String version) {
    this.root = root;
    this.version = version;
  }

  /**
   * Looks for the runtime in the per-user cache directory and verifies every file of it. Blocks on file I/O, about
   * 60 MB.
   *
   * @return the runtime, empty when it is not installed or damaged; {@link NixlInstaller#install} then mends it
   * @throws LibraryUnavailableException if the cache directory cannot be trusted
   */
  public static Optional<NixlRuntime> installed() {
    return in(NixlInstaller.directory(CacheDirectory.root()), NixlInstaller.VERSION);
  }

  static Optional<NixlRuntime> in(Path root, String version) {
    return SealedDirectory.isIntact(root) ? Optional.of(new NixlRuntime(root, version)) : Optional.empty();
  }

  /** {@return the directory that holds all files} */
  public Path root() {
    return root;
  }

  /** {@return version of the NIXL package, for example 1.5.1} */
  public String version() {
    return version;
  }

  /** {@return the library with the C interface; it finds all others by itself} */
  public Path library() {
    return root.resolve(NixlPackage.LIBRARY);
  }
}
