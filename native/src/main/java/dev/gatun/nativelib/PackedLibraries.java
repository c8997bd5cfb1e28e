package dev.gatun.nativelib;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Libraries that travel inside the jar. They are extracted together, under their own names, into one directory named
 * after their content, so that sonames and {@code $ORIGIN} keep working and versions never mix.
 */
final class PackedLibraries {
  private static final List<String> NAMES = List.of("libgatun_loopback.so", "libgatun_marker.so",
      "libgatun_verbs.so");

  private final Map<String, byte[]> packed;
  private final String source;

  private PackedLibraries(Map<String, byte[]> packed, String source) {
    this.packed = packed;
    this.source = source;
  }

  static PackedLibraries ofThisJar() {
    String folder = "/" + platform() + "/";
    Map<String, byte[]> packed = new LinkedHashMap<>();
    for (String name : NAMES) {
      try (InputStream in = PackedLibraries.class.getResourceAsStream(folder + name)) {
        if (in != null) packed.put(name, in.readAllBytes());
      } catch (IOException e) {
        throw new LibraryUnavailableException("cannot read " + folder + name + " from the jar: " + e, List.of(),
            "replace the damaged gatun-native jar", e);
      }
    }
    return new PackedLibraries(packed, "gatun-native jar, " + platform());
  }

  static PackedLibraries of(Map<String, byte[]> packed) {
    return new PackedLibraries(new LinkedHashMap<>(packed), "given");
  }

  static String platform() {
    String arch = System.getProperty("os.arch", "unknown");
    return "linux-" + (arch.equals("amd64") ? "x86_64" : arch);
  }

  String source() {
    return source;
  }

  boolean contains(String name) {
    return packed.containsKey(name);
  }

  /** Extracts all of them below {@code root} unless they lie there already, verifies every one, answers {@code name}. */
  Path extract(Path root, String name) {
    if (!contains(name)) throw new IllegalArgumentException("not packed: " + name);
    try {
      Path parent = CacheDirectory.owned(root.resolve("native"));
      Path directory = parent.resolve(bundleHash());
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) createBundle(parent, directory);
      CacheDirectory.owned(directory);
      for (Map.Entry<String, byte[]> file : packed.entrySet())
        verify(directory, file.getKey(), file.getValue());
      return directory.resolve(name);
    } catch (IOException e) {
      throw new LibraryUnavailableException("cannot extract " + name + " below " + root + ": " + e, List.of(source),
          "-D" + CacheDirectory.PROPERTY + "=DIRECTORY, with a directory that this user can write and execute from", e);
    }
  }

  // The rename is the one step that others see: whoever comes second finds a complete directory and uses that, so that
  // a process never maps two inodes of one library.
  private void createBundle(Path parent, Path directory) throws IOException {
    Path unfinished = parent.resolve("." + directory.getFileName() + "-" + UUID.randomUUID());
    CacheDirectory.owned(unfinished);
    for (Map.Entry<String, byte[]> file : packed.entrySet()) {
      write(unfinished.resolve(file.getKey()), file.getValue());
    }
    try {
      Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) throw e;
      for (String name : packed.keySet())
        Files.delete(unfinished.resolve(name));
      Files.delete(unfinished);
    }
  }

  private static void verify(Path directory, String name, byte[] content) throws IOException {
    Path file = directory.resolve(name);
    if (isIntact(file, content)) return;
    Path replacement = directory.resolve("." + name + "-" + UUID.randomUUID());
    write(replacement, content);
    Files.move(replacement, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    if (!isIntact(file, content)) throw new IOException(file + " does not keep what was written to it");
  }

  private static boolean isIntact(Path file, byte[] content) throws IOException {
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) == content.length
        && MessageDigest.isEqual(Hash.sha256(Files.readAllBytes(file)), Hash.sha256(content))
        && PosixFilePermissions.toString(Files.getPosixFilePermissions(file)).equals("rwx------");
  }

  private static void write(Path file, byte[] content) throws IOException {
    Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.write(file, content);
  }

  private String bundleHash() {
    MessageDigest digest = Hash.newSha256();
    packed.forEach((name, content) -> {
      digest.update(name.getBytes(StandardCharsets.UTF_8));
      digest.update(Hash.sha256(content));
    });
    // 64 bits name a directory; every file in it is compared in full
    return Hash.hex(digest.digest()).substring(0, 16);
  }
}
