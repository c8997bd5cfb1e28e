package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The per-user directory that holds extracted and installed libraries. What lies in it is executed, so it must belong to
 * this user and be writable by nobody else.
 */
final class CacheDirectory {
  static final String PROPERTY = "gatun.cache.dir";
  private static final Set<PosixFilePermission> OTHERS_WRITE = EnumSet.of(PosixFilePermission.GROUP_WRITE,
      PosixFilePermission.OTHERS_WRITE);

  private CacheDirectory() {}

  /** {@code gatun.cache.dir}, else {@code $XDG_CACHE_HOME/gatun}, else {@code ~/.cache/gatun}; created and checked. */
  static Path root() {
    return root(System.getProperty(PROPERTY), System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home"));
  }

  static Path root(@Nullable String property, @Nullable String xdgCacheHome, @Nullable String home) {
    try {
      return chosen(property, xdgCacheHome, home);
    } catch (InvalidPathException unnameable) {
      throw new LibraryUnavailableException("the cache directory has a name that the locale, "
          + System.getProperty("sun.jnu.encoding") + ", has no letters for: " + unnameable.getInput(), List.of(),
          "LC_ALL=C.UTF-8, or -D" + PROPERTY + "=DIRECTORY", unnameable);
    }
  }

  private static Path chosen(@Nullable String property, @Nullable String xdgCacheHome, @Nullable String home) {
    if (property != null && !property.isBlank()) return owned(Path.of(property).toAbsolutePath());
    // the XDG specification: a relative path is invalid and to be ignored
    if (xdgCacheHome != null && xdgCacheHome.startsWith("/")) return owned(Path.of(xdgCacheHome, "gatun"));
    if (home != null && home.startsWith("/")) return owned(Path.of(home, ".cache", "gatun"));
    throw new LibraryUnavailableException("no cache directory: user.home is not set", List.of(),
        "-D" + PROPERTY + "=DIRECTORY");
  }

  /** Creates {@code directory} for this user only, or checks that an existing one can be trusted. */
  static Path owned(Path directory) {
    try {
      Path parent = directory.getParent();
      if (parent != null) Files.createDirectories(parent);
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) create(directory);
      requireOwn(directory);
      return directory;
    } catch (IOException e) {
      throw new LibraryUnavailableException("cache directory cannot be used: " + directory + ": " + e, List.of(),
          "-D" + PROPERTY + "=DIRECTORY, with a directory that this user can write and execute from", e);
    }
  }

  private static void create(Path directory) throws IOException {
    try {
      Files.createDirectory(directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      // another process was faster, or it is no directory: requireOwn tells them apart
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) throw e;
    }
  }

  private static void requireOwn(Path directory) throws IOException {
    Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    Set<PosixFilePermission> open = EnumSet.copyOf(OTHERS_WRITE);
    open.retainAll(Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS));
    if (owner.equals(self) && open.isEmpty()) return;
    throw new LibraryUnavailableException(
        "cache directory " + directory + " must belong to uid " + self + " and be writable by no other: owner " + owner
            + ", permissions " + PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)),
        List.of(), "chmod 700 " + directory + ", or -D" + PROPERTY + "=DIRECTORY");
  }
}
