package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A directory with a list of its files and their hashes, so that a damaged installation is not taken for a whole one. */
final class SealedDirectory {
  private static final String MANIFEST = "manifest.sha256";

  private SealedDirectory() {}

  /** {@return whether the directory is sealed, belongs to this user, and no file of it has changed} */
  static boolean isIntact(Path root) {
    try {
      Path manifest = root.resolve(MANIFEST);
      if (!Files.isRegularFile(manifest, LinkOption.NOFOLLOW_LINKS)) return false;
      List<String> lines = Files.readAllLines(manifest);
      if (lines.isEmpty()) return false;
      for (String line : lines) {
        String[] hashAndName = line.split("  ", 2);
        if (hashAndName.length < 2) return false;
        Path file = root.resolve(hashAndName[1]);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) return false;
        if (!Hash.sha256Hex(file).equals(hashAndName[0])) return false;
      }
      CacheDirectory.owned(root);
      return true;
    } catch (IOException | InvalidPathException e) {
      return false; // unreadable is as good as damaged
    }
  }

  /** Writes the list: the last step of an installation. */
  static void seal(Path root) throws IOException {
    StringBuilder manifest = new StringBuilder();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        manifest.append(Hash.sha256Hex(file)).append("  ").append(root.relativize(file)).append('\n');
      }
    }
    Files.writeString(root.resolve(MANIFEST), manifest);
  }

  /** Deletes a directory and what is in it. */
  static void delete(Path root) throws IOException {
    List<Path> entries;
    try (Stream<Path> walk = Files.walk(root)) {
      entries = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path entry : entries)
      Files.delete(entry);
  }
}
