package dev.gatun.connector;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The real vllm-router for tests: one pinned file from PyPI, fetched once a user and compared by content each time. A test
 * that cannot have it fails. It runs on any Python 3.8 or later.
 */
final class RouterPackage {
  private static final String VERSION = "0.1.17";
  private static final String SHA256 = "85c96bea4d573a49b5a8ae4c72ee3dfe733aba26b6f1ff1256e6142f1f42694d";
  private static final String WHEEL = "vllm_router-" + VERSION + "-cp38-abi3-manylinux_2_28_x86_64.whl";
  private static final Path CACHE = Path.of(System.getProperty("user.home"), ".cache", "gatun", "vllm-router");

  private RouterPackage() {}

  /** {@return a folder for {@code PYTHONPATH} in which the package lies} */
  static Path unpacked() throws IOException, InterruptedException {
    Files.createDirectories(CACHE);
    // another build of this user may be at it
    try (FileChannel channel = FileChannel.open(CACHE.resolve(".lock"), StandardOpenOption.CREATE,
        StandardOpenOption.WRITE)) {
      channel.lock();
      Path wheel = CACHE.resolve(WHEEL);
      if (!isPinned(wheel)) download(wheel);
      return unpack(wheel, Files.createTempDirectory(Files.createDirectories(Path.of("target")), "vllm-router-"));
    }
  }

  private static void download(Path wheel) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory(CACHE, "unfinished-");
    Path output = folder.resolve("pip.log");
    Process pip = new ProcessBuilder("python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
        "--platform",
        "manylinux_2_28_x86_64", "--implementation", "cp", "--python-version", "3.8", "--abi", "abi3",
        "--disable-pip-version-check", "--dest", folder.toString(), "vllm-router==" + VERSION)
        .redirectErrorStream(true).redirectOutput(output.toFile()).start();
    boolean ended = pip.waitFor(10, TimeUnit.MINUTES);
    pip.destroyForcibly();
    Path fetched = folder.resolve(WHEEL);
    if (!ended || pip.exitValue() != 0 || !isPinned(fetched)) {
      throw new IOException("pip could not fetch vllm-router " + VERSION + " with SHA-256 " + SHA256 + ": "
          + Files.readString(output));
    }
    Files.move(fetched, wheel, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (Stream<Path> rest = Files.list(folder)) {
      for (Path file : rest.toList())
        Files.delete(file);
    }
    Files.delete(folder);
  }

  private static boolean isPinned(Path file) throws IOException {
    if (!Files.isRegularFile(file)) return false;
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
      return HexFormat.of().formatHex(digest).equals(SHA256);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static Path unpack(Path wheel, Path folder) throws IOException {
    List<String> roots = List.of("vllm_router/", "vllm_router.libs/", "vllm_router_rs.");
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
        ZipEntry entry = entries.nextElement();
        if (entry.isDirectory() || roots.stream().noneMatch(entry.getName()::startsWith)) continue;
        Path file = folder.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        try (InputStream in = zip.getInputStream(entry)) {
          Files.copy(in, file);
        }
      }
    }
    return folder;
  }
}
