package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Installs one pinned package into a directory of the per-user cache, without root and without Python at run time. The
 * directory appears whole or not at all; concurrent installations, in threads and processes, do the work once.
 */
final class WheelInstaller {
  private static final String UNFINISHED = ".unfinished-";
  private static final Object ONE_AT_A_TIME = new Object();

  private final WheelPackage source;
  private final String folder;
  private final int recipe;
  private final Contents contents;

  /** Takes what is wanted out of the package file and completes it. */
  @FunctionalInterface
  interface Contents {
    void take(Path wheel, Path directory, Consumer<String> progress) throws IOException;
  }

  /**
   * Describes the installation.
   *
   * @param source the package
   * @param folder of the cache, for all versions
   * @param recipe counts the ways in which an installation of one version was put together
   * @param contents what makes an installation of the file
   */
  WheelInstaller(WheelPackage source, String folder, int recipe, Contents contents) {
    this.source = source;
    this.folder = folder;
    this.recipe = recipe;
    this.contents = contents;
  }

  /** {@return where the installation lies or will lie} */
  Path directory(Path cache) {
    return cache.resolve(folder).resolve(source.version() + "-" + recipe);
  }

  /**
   * Installs what is missing or damaged.
   *
   * @param cache the per-user cache directory
   * @param wheel the package file, null to download it
   * @param progress called on this thread with a line for each step
   * @return {@link #directory}, sealed
   * @throws LibraryUnavailableException if it cannot be installed; do what the message says
   */
  Path install(Path cache, @Nullable Path wheel, Consumer<String> progress) {
    source.requirePlatform(System.getProperty("os.name"), System.getProperty("os.arch"));
    Path directory = directory(cache);
    Path parent = CacheDirectory.owned(cache.resolve(folder));
    // the file lock excludes other processes, the monitor other threads of this one
    synchronized (ONE_AT_A_TIME) {
      try (FileChannel channel = FileChannel.open(parent.resolve(".lock"), StandardOpenOption.CREATE,
          StandardOpenOption.WRITE)) {
        channel.lock();
        if (SealedDirectory.isIntact(directory)) return directory;
        installInto(parent, directory, wheel, progress);
      } catch (IOException e) {
        throw new LibraryUnavailableException(source.title() + " cannot be installed: " + e, List.of(),
            "free space, or -D" + CacheDirectory.PROPERTY + "=DIRECTORY", e);
      }
    }
    if (SealedDirectory.isIntact(directory)) return directory;
    throw new LibraryUnavailableException("installed files do not keep their content: " + directory, List.of(),
        "-D" + CacheDirectory.PROPERTY + "=DIRECTORY on a sound file system");
  }

  // Called with the lock held, so whatever unfinished directory lies there was left by a process that died.
  private void installInto(Path parent, Path directory, @Nullable Path wheel, Consumer<String> progress)
      throws IOException {
    removeUnfinished(parent);
    Path unfinished = CacheDirectory.owned(
        Leftovers.temporary(parent.resolve(UNFINISHED + UUID.randomUUID())));
    Path file = wheel == null ? source.download(unfinished, progress) : wheel;
    source.requirePinned(file);
    progress.accept("unpacking " + file.getFileName());
    contents.take(file, unfinished, progress);
    if (wheel == null) Files.delete(file);
    SealedDirectory.seal(unfinished);
    if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
      Files.move(directory, parent.resolve(UNFINISHED + UUID.randomUUID()), StandardCopyOption.ATOMIC_MOVE);
    }
    Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
    Leftovers.keep(unfinished);
    removeUnfinished(parent);
    progress.accept("installed " + directory);
  }

  private static void removeUnfinished(Path parent) throws IOException {
    List<Path> leftovers;
    try (Stream<Path> entries = Files.list(parent)) {
      leftovers = entries.filter(entry -> entry.getFileName().toString().startsWith(UNFINISHED)).toList();
    }
    for (Path leftover : leftovers)
      SealedDirectory.delete(leftover);
  }
}
