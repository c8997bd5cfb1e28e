package dev.gatun.nativelib;

import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Installs a real Mooncake for trying out and for tests, without root and without Python at run time: one pinned
 * package from PyPI, unpacked into the per-user cache directory, with stand-ins for the libraries it is linked to and
 * this machine lacks. Production uses a build of its own through {@code MOONCAKE_STORE_LIBRARY}.
 */
public final class MooncakeInstaller {
  /** Version of the package that is installed. */
  public static final String VERSION = "0.3.13.post1";

  private static final WheelInstaller INSTALLER = new WheelInstaller(MooncakePackage.WHEEL, "mooncake", 1,
      MooncakePackage::take);

  private MooncakeInstaller() {}

  /**
   * Answers the installed runtime, installing it first if it is missing or damaged.
   *
   * <p>Any thread and process: concurrent calls wait for the first and share its result. An interrupted installation
   * leaves nothing that a later one would trust. Blocks: downloads 17 MB through {@code python3 -m pip}.
   *
   * @return the runtime
   * @throws LibraryUnavailableException if something is missing; do what the message says
   */
  public static MooncakeRuntime install() {
    return install(step -> {});
  }

  /**
   * As {@link #install()}, telling each step.
   *
   * @param progress called on this thread with a line for each step
   * @return the runtime
   * @throws LibraryUnavailableException if something is missing; do what the message says
   */
  public static MooncakeRuntime install(Consumer<String> progress) {
    return install(CacheDirectory.root(), null, progress);
  }

  /**
   * As {@link #install()} for machines without network: takes the package file instead of downloading it. It must be
   * the pinned one, byte for byte.
   *
   * @param wheel the package file
   * @param progress called on this thread with a line for each step
   * @return the runtime
   * @throws LibraryUnavailableException if it is another file or something is missing; do what the message says
   */
  public static MooncakeRuntime installFrom(Path wheel, Consumer<String> progress) {
    return install(CacheDirectory.root(), wheel, progress);
  }

  static MooncakeRuntime install(Path cache, @Nullable Path wheel, Consumer<String> progress) {
    return new MooncakeRuntime(INSTALLER.install(cache, wheel, progress), VERSION);
  }

  static Path directory(Path cache) {
    return INSTALLER.directory(cache);
  }
}
