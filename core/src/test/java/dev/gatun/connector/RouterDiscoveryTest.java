package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The real vllm-router between a prefill and a decode engine, with Gatun's arguments and bootstrap service. */
@Timeout(value = 15, unit = TimeUnit.MINUTES) // the first run of a user fetches the router
class RouterDiscoveryTest {
  private static final Duration START_MAX = Duration.ofSeconds(60);

  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  @DisplayName("S3.5 S3.6 the router finds the bootstrap service and gives both engines of a request what they need")
  void discovers() throws Exception {
    String engineId = UUID.randomUUID().toString();
    int port = FreePort.find();
    try (FakeEngine prefill = new FakeEngine();
        FakeEngine decode = new FakeEngine();
        BootstrapServer bootstrap = BootstrapServer.start("127.0.0.1", 0)) {
      register(bootstrap, engineId);
      RouterArguments arguments = RouterArguments
          .prefillDecode(P2pConnector.MOONCAKE, List.of(prefill.url()), new int[]{bootstrap.port()},
              List.of(decode.url()))
          .with(
              Map.of("host", "127.0.0.1", "port", port, "prometheus_port", FreePort.find(),
                  "worker_startup_check_interval",
                  1, "disable_retries", true));
      try (RouterProcess router = RouterProcess.start(arguments.commandLine())) {
        awaitReady(router, port);
        HttpResponse<String> answer = complete(port);
        assertEquals(200, answer.statusCode(), () -> answer.body() + log(router));
        checkLegs(prefill, decode, bootstrap, engineId);
      }
    }
  }

  private static void checkLegs(FakeEngine prefill, FakeEngine decode, BootstrapServer bootstrap, String engineId) {
    assertEquals(1, prefill.completions().size());
    assertEquals(1, decode.completions().size());
    assertEquals(1, prefill.completions().getFirst().get("max_tokens"));
    assertEquals(3, decode.completions().getFirst().get("max_tokens"));
    Map<?, ?> handsOut = parameters(prefill);
    Map<?, ?> takes = parameters(decode);
    assertEquals(true, handsOut.get("do_remote_decode"));
    assertEquals(false, handsOut.get("do_remote_prefill"));
    assertTrue(String.valueOf(handsOut.get("transfer_id")).startsWith("xfer-"), handsOut::toString);
    assertEquals(Map.of("do_remote_decode", false, "do_remote_prefill", true, "transfer_id",
        Objects.requireNonNull(handsOut.get("transfer_id")), "remote_engine_id", engineId, "remote_bootstrap_addr",
        "http://127.0.0.1:" + bootstrap.port()), takes);
  }

  private static Map<?, ?> parameters(FakeEngine engine) {
    return (Map<?, ?>) Objects.requireNonNull(engine.completions().getFirst().get("kv_transfer_params"));
  }

  private void register(BootstrapServer bootstrap, String engineId) throws IOException, InterruptedException {
    assertEquals(200, client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bootstrap.port() + "/register"))
            .POST(BodyPublishers.ofString("{\"engine_id\": \"" + engineId
                + "\", \"dp_rank\": 0, \"tp_rank\": 0, \"pp_rank\": 0, \"addr\": \"tcp://127.0.0.1:1\"}"))
            .build(),
        BodyHandlers.ofString()).statusCode());
  }

  private HttpResponse<String> complete(int port) throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
        .header("Content-Type", "application/json").timeout(Duration.ofSeconds(30))
        .POST(BodyPublishers.ofString("{\"model\": \"tiny\", \"prompt\": [1, 2], \"max_tokens\": 3}")).build(),
        BodyHandlers.ofString());
  }

  private void awaitReady(RouterProcess router, int port) throws InterruptedException {
    HttpRequest readiness = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/readiness"))
        .timeout(Duration.ofSeconds(5)).build();
    long end = System.nanoTime() + START_MAX.toNanos();
    while (System.nanoTime() < end && router.isAlive()) {
      try {
        if (client.send(readiness, BodyHandlers.discarding()).statusCode() == 200) return;
      } catch (IOException notYet) {
        // it does not listen yet
      }
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
    throw new AssertionError("the router is not ready: " + log(router));
  }

  private static String log(RouterProcess router) {
    try {
      return router.output();
    } catch (IOException e) {
      return e.toString();
    }
  }
}
