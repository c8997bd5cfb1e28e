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
 * Installs a real Mooncake for trying out and for tests, without root and without Python at run time: one pinned
 * package from PyPI, unpacked into the per-user cache directory, with stand-ins for the libraries it is linked to and
 * this machine lacks. Production uses a build of its own through {@code MOONCAKE_STORE_LIBRARY}.
 */
public final class MooncakeInstaller {
  /** Version of the package that is installed. */
  public static final String VERSION = "0.3.13.post1";
  // counts the ways in which an installation of one version was put together
  private static final int RECIPE = 1;

  private static final Object ONE_AT_A_TIME = new Object();

  private final Path cache;
  private final @Nullable Path wheel;
  private final Consumer<String> progress;

  MooncakeInstaller(Path cache, @Nullable Path wheel, Consumer<String> progress) {
    this.cache = cache;
    this.wheel = wheel;
    this.progress = progress;
  }

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
    return new MooncakeInstaller(CacheDirectory.root(), null, progress).run();
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
    return new MooncakeInstaller(CacheDirectory.root(), wheel, progress).run();
  }

  static Path directory(Path cache) {
    return cache.resolve("mooncake").resolve(VERSION + "-" + RECIPE);
  }

  MooncakeRuntime run() {
    requirePlatform(System.getProperty("os.name"), System.getProperty("os.arch"));
    Path directory = directory(cache);
    Path parent = CacheDirectory.owned(cache.resolve("mooncake"));
    // the file lock excludes other processes, the monitor other threads of this one
    synchronized (ONE_AT_A_TIME) {
      try (FileChannel channel = FileChannel.open(parent.resolve(".lock"), StandardOpenOption.CREATE,
          StandardOpenOption.WRITE)) {
        channel.lock();
        return MooncakeRuntime.in(directory, VERSION).orElseGet(() -> installInto(parent, directory));
      } catch (IOException e) {
        throw failed(e);
      }
    }
  }

  static void requirePlatform(String system, String machine) {
    if (system.equals("Linux") && machine.equals("amd64")) return;
    throw new LibraryUnavailableException(
        "the packaged Mooncake runs on Linux x86-64 only, this is " + system + " " + machine, List.of(),
        "build Mooncake for this machine and set MOONCAKE_STORE_LIBRARY=/path/to/libmooncake_store.so");
  }

  // Called with the lock held, so whatever unfinished directory lies there was left by a process that died.
  private MooncakeRuntime installInto(Path parent, Path directory) {
    try {
      removeUnfinished(parent);
      Path unfinished = CacheDirectory.owned(parent.resolve(".unfinished-" + UUID.randomUUID()));
      MooncakePackage source = new MooncakePackage(unfinished, progress);
      Path file = wheel == null ? source.download() : wheel;
      source.requirePinned(file);
      progress.accept("unpacking " + file.getFileName());
      source.unpack(file);
      if (wheel == null) Files.delete(file);
      progress.accept("compiling stand-ins for the Ascend runtime and the etcd client");
      source.completeWithStandIns();
      source.checkMaster();
      MooncakeRuntime.seal(unfinished);
      if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
        Files.move(directory, parent.resolve(".unfinished-" + UUID.randomUUID()), StandardCopyOption.ATOMIC_MOVE);
      }
      Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
      removeUnfinished(parent);
      progress.accept("installed " + directory);
    } catch (IOException e) {
      throw failed(e);
    }
    return MooncakeRuntime.in(directory, VERSION).orElseThrow(
        () -> new LibraryUnavailableException("installed files do not keep their content: " + directory, List.of(),
            "-D" + CacheDirectory.PROPERTY + "=DIRECTORY on a sound file system"));
  }

  private static LibraryUnavailableException failed(IOException e) {
    return new LibraryUnavailableException("Mooncake cannot be installed: " + e, List.of(),
        "free space, or -D" + CacheDirectory.PROPERTY + "=DIRECTORY", e);
  }

  private static void removeUnfinished(Path parent) throws IOException {
    List<Path> leftovers;
    try (Stream<Path> entries = Files.list(parent)) {
      leftovers = entries.filter(entry -> entry.getFileName().toString().startsWith(".unfinished-")).toList();
    }
    for (Path leftover : leftovers) {
      try (Stream<Path> files = Files.list(leftover)) {
        for (Path file : files.toList())
          Files.delete(file);
      }
      Files.delete(leftover);
    }
  }
}
