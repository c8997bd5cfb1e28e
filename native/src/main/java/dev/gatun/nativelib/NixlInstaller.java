package dev.gatun.nativelib;

import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Installs NIXL without root and without Python at run time: one pinned package from PyPI, unpacked into the per-user
 * cache directory, with the plugins UCX and POSIX. It needs no GPU and no RDMA device, and uses those that are there. A
 * build of the user's own is named by {@code NIXL_LIBRARY}.
 */
public final class NixlInstaller {
  /** Version of the package that is installed. */
  public static final String VERSION = "1.5.1";

  private static final WheelInstaller INSTALLER = new WheelInstaller(NixlPackage.WHEEL, "nixl", 1, NixlPackage::take);

  private NixlInstaller() {}

  /**
   * Answers the installed runtime, installing it first if it is missing or damaged.
   *
   * <p>Any thread and process: concurrent calls wait for the first and share its result. An interrupted installation
   * leaves nothing that a later one would trust. Blocks: downloads 59 MB through {@code python3 -m pip}.
   *
   * @param progress called on this thread with a line for each step
   * @return the runtime
   * @throws LibraryUnavailableException if something is missing; do what the message says
   */
  public static NixlRuntime install(Consumer<String> progress) {
    return install(CacheDirectory.root(), null, progress);
  }

  /**
   * As {@link #install} for machines without network: takes the package file instead of downloading it. It must be the
   * pinned one, byte for byte.
   *
   * @param wheel the package file
   * @param progress called on this thread with a line for each step
   * @return the runtime
   * @throws LibraryUnavailableException if it is another file or something is missing; do what the message says
   */
  public static NixlRuntime installFrom(Path wheel, Consumer<String> progress) {
    return install(CacheDirectory.root(), wheel, progress);
  }

  static NixlRuntime install(Path cache, @Nullable Path wheel, Consumer<String> progress) {
    return new NixlRuntime(INSTALLER.install(cache, wheel, progress), VERSION);
  }

  static Path directory(Path cache) {
    return INSTALLER.directory(cache);
  }
}
