package dev.gatun.store;

import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.testing.PinnedWheel;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Mooncake's own Python client as a process. Its package is the pinned one that the runtime is made of, for the Python that
 * is there; the installed runtime stands in for what it is linked to and this machine lacks.
 */
final class PythonClient implements AutoCloseable {
  private static final String VERSION = MooncakeInstaller.VERSION;
  /** SHA-256 of the package by Python. */
  private static final Map<String, String> PACKAGES = Map.of(
      "cp310", "613b33ce76357f262ce29523e845422a05e71cf6d78bbbffb3693fe7515c3538",
      "cp311", "dd846b8f71caff9b2488c7c6969ece25686f97c6c62ad38a574ca56ae0a93970",
      "cp312", "0ca052e27dce0cf0e6c99c7c969746ae89259f901e7b72e3ecd93c4aedace59d",
      "cp313", "deed730129a3829e77b1d7aee5968acc79b01f1a6c8fc9e4296865460c0e88bf");

  private final Process process;
  private final Writer input;
  private final BufferedReader output;
  private final Path log;

  private PythonClient(Process process, Path log) {
    this.process = process;
    this.log = log;
    input = process.outputWriter(StandardCharsets.UTF_8);
    output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static PythonClient start(String master) throws IOException, InterruptedException {
    Path packages = wheel(tag()).unpacked(List.of("mooncake/", "mooncake_transfer_engine_npu.libs/"));
    Path libraries = MooncakeTestRuntime.runtime().libraries().getLast().getParent();
    Path script = packages.resolve("python_client.py");
    try (var source = PythonClient.class.getResourceAsStream("python_client.py")) {
      Files.copy(Objects.requireNonNull(source), script);
    }
    Path log = packages.resolve("client.log");
    ProcessBuilder builder = new ProcessBuilder("python3", script.toString(), master).redirectError(log.toFile());
    builder.environment().put("PYTHONPATH", packages.toString());
    builder.environment().put("LD_LIBRARY_PATH",
        libraries + File.pathSeparator + System.getenv().getOrDefault("LD_LIBRARY_PATH", ""));
    builder.environment().put("MC_FORCE_TCP", "1");
    PythonClient client = new PythonClient(builder.start(), log);
    client.await("ready");
    return client;
  }

  /** Sends words, and waits for the number that answers. */
  long ask(String... words) throws IOException {
    input.write(String.join("\t", words) + '\n');
    input.flush();
    return Long.parseLong(await("answer "));
  }

  /** What follows a word at the beginning of a line; the library prints lines of its own between. */
  private String await(String word) throws IOException {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(word)) return line.substring(word.length());
    }
    throw new IOException("the Python client ended: " + Files.readString(log));
  }

  private static PinnedWheel wheel(String tag) {
    String sha256 = PACKAGES.get(tag);
    if (sha256 == null) {
      throw new AssertionError("python3 must be one of " + PACKAGES.keySet().stream().sorted().toList()
          + ", for which Mooncake's package is pinned: " + tag);
    }
    String platform = "manylinux_2_35_x86_64";
    return new PinnedWheel("mooncake-transfer-engine-npu==" + VERSION,
        "mooncake_transfer_engine_npu-" + VERSION + '-' + tag + '-' + tag + '-' + platform + ".whl", sha256,
        List.of("--platform", platform, "--python-version", tag.substring(2, 3) + '.' + tag.substring(3), "--abi",
            tag));
  }

  private static String tag() throws IOException {
    Process python = new ProcessBuilder("python3", "-c",
        "import sys; print('cp%d%d' % sys.version_info[:2])").redirectErrorStream(true).start();
    return new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
  }

  @Override
  public void close() {
    try {
      input.close();
      if (!process.waitFor(30, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (IOException e) {
      process.destroyForcibly();
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
