package dev.gatun.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A Python package that tests run: one pinned file from PyPI, fetched once a user and compared by content each time. A test
 * that cannot have it fails.
 *
 * @param requirement name and version, as {@code name==version}
 * @param file its name
 * @param sha256 of the file
 * @param tags platform, Python version and ABI, as pip's options
 */
public record PinnedWheel(String requirement, String file, String sha256, List<String> tags) {
  private static final Path CACHES = Path.of(System.getProperty("user.home"), ".cache", "gatun");

  /** {@return a new folder of this build, for {@code PYTHONPATH}, with the entries of the package that begin so} */
  public Path unpacked(List<String> roots) throws IOException, InterruptedException {
    String name = requirement.substring(0, requirement.indexOf('='));
    Path cache = Files.createDirectories(CACHES.resolve(name));
    // another build of this user may be at it
    try (FileChannel channel = FileChannel.open(cache.resolve(".lock"), StandardOpenOption.CREATE,
        StandardOpenOption.WRITE)) {
      channel.lock();
      Path wheel = cache.resolve(file);
      if (!isPinned(wheel)) download(cache, wheel);
      Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
      return unpack(wheel, Files.createTempDirectory(target, name + '-'), roots);
    }
  }

  private void download(Path cache, Path wheel) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory(cache, "unfinished-");
    Path output = folder.resolve("pip.log");
    List<String> command = new ArrayList<>(List.of("python3", "-m", "pip", "download", "--no-deps",
        "--only-binary=:all:", "--implementation", "cp", "--disable-pip-version-check", "--dest", folder.toString()));
    command.addAll(tags);
    command.add(requirement);
    Process pip = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    boolean ended = pip.waitFor(10, TimeUnit.MINUTES);
    pip.destroyForcibly();
    Path fetched = folder.resolve(file);
    if (!ended || pip.exitValue() != 0 || !isPinned(fetched)) {
      throw new IOException("pip could not fetch " + requirement + " with SHA-256 " + sha256 + ": "
          + Files.readString(output));
    }
    Files.move(fetched, wheel, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (Stream<Path> rest = Files.list(folder)) {
      for (Path left : rest.toList())
        Files.delete(left);
    }
    Files.delete(folder);
  }

  private boolean isPinned(Path path) throws IOException {
    if (!Files.isRegularFile(path)) return false;
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(path));
      return HexFormat.of().formatHex(digest).equals(sha256);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static Path unpack(Path wheel, Path folder, List<String> roots) throws IOException {
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
        ZipEntry entry = entries.nextElement();
        if (entry.isDirectory() || roots.stream().noneMatch(entry.getName()::startsWith)) continue;
        Path unpacked = folder.resolve(entry.getName());
        Files.createDirectories(unpacked.getParent());
        try (InputStream in = zip.getInputStream(entry)) {
          Files.copy(in, unpacked);
        }
      }
    }
    return folder;
  }
}
