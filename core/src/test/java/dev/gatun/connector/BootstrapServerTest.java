package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BootstrapServerTest {
  private final BootstrapServer server = BootstrapServer.start("127.0.0.1", 0);
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  @Test
  @DisplayName("S3.5 who registers is found by a query, by data-parallel, tensor and pipeline rank")
  void registerAndQuery() throws Exception {
    assertEquals("200 {}", query());
    assertEquals("200 {\"status\":\"ok\"}", register("e-0", 0, 0, 0, "tcp://127.0.0.1:46351"));
    assertEquals("200 {\"status\":\"ok\"}", register("e-0", 0, 1, 0, "tcp://127.0.0.1:46352"));
    assertEquals("200 {\"status\":\"ok\"}", register("e-1", 10, 0, 2, "tcp://127.0.0.1:46353"));
    HttpResponse<String> answer = get("/query");
    assertEquals("application/json", answer.headers().firstValue("Content-Type").orElse(""));
    assertEquals(
        ConfigJson.object("expected",
            """
                {"0": {"engine_id": "e-0", "worker_addr": {"0": {"0": "tcp://127.0.0.1:46351"}, "1": {"0": "tcp://127.0.0.1:46352"}}},
                 "10": {"engine_id": "e-1", "worker_addr": {"0": {"2": "tcp://127.0.0.1:46353"}}}}"""),
        ConfigJson.object("answer", answer.body()));
  }

  @Test
  @DisplayName("S3.5 the same registration again is fine; another engine or address for a rank is refused with 400")
  void contradictions() throws Exception {
    register("e-0", 0, 0, 0, "tcp://127.0.0.1:1");
    assertEquals("200 {\"status\":\"ok\"}", register("e-0", 0, 0, 0, "tcp://127.0.0.1:1"));
    assertEquals("400 {\"detail\":\"engine_id must be e-0, which has dp_rank 0 already: \\\"e-9\\\"\"}",
        register("e-9", 0, 1, 0, "tcp://127.0.0.1:2"));
    assertEquals("400 {\"detail\":\"addr must be tcp://127.0.0.1:1, with which dp_rank 0 tp_rank 0 pp_rank 0 has "
        + "registered already: \\\"tcp://127.0.0.1:2\\\"\"}", register("e-0", 0, 0, 0, "tcp://127.0.0.1:2"));
    assertEquals("200 {\"0\":{\"engine_id\":\"e-0\",\"worker_addr\":{\"0\":{\"0\":\"tcp://127.0.0.1:1\"}}}}",
        query());
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      {                   | 400 | body must be one JSON object: Unexpected end-of-input
      ''                  | 400 | body must be one JSON object
      [1]                 | 400 | body must be one JSON object: \\"[1]\\"
      {"engine_id":"e","engine_id":"f"} | 400 | body must be one JSON object: Duplicate field 'engine_id'
      {}                  | 422 | engine_id must be given: absent
      {"engine_id":"e","dp_rank":0,"tp_rank":0,"pp_rank":0} | 422 | addr must be given: absent
      {"engine_id":"e","dp_rank":-1,"tp_rank":0,"pp_rank":0,"addr":"tcp://h:1"} | 422 | dp_rank must be a whole number from 0 to 65536: \\"-1\\"
      {"engine_id":7,"dp_rank":0,"tp_rank":0,"pp_rank":0,"addr":"tcp://h:1"} | 422 | engine_id must be text: 7
      {"engine_id":"e","dp_rank":0,"tp_rank":0,"pp_rank":0,"addr":"tcp://h"} | 422 | addr must be tcp://host:port: \\"tcp://h\\"
      {"engine_id":"e","dp_rank":0,"tp_rank":0,"pp_rank":0,"addr":"tcp://[::]:1"} | 422 | addr must be where the worker is reached, not where it listens: \\"tcp://[::]:1\\"
      {"engine_id":"e","dp_rank":0,"tp_rank":0,"pp_rank":0,"addr":"h:1"} | 422 | addr must be tcp://host:port: \\"h:1\\"
      """)
  @DisplayName("S3.5 a body that is no registration is refused with what is wrong, and registers nothing")
  void malformed(String body, int status, String detail) throws Exception {
    String answer = post("/register", body);
    assertTrue(answer.startsWith(status + " {\"detail\":\"" + detail), answer);
    assertEquals("200 {}", query());
  }

  @Test
  @DisplayName("other paths, other methods and endless bodies are refused")
  void otherRequests() throws Exception {
    assertEquals(404, get("/health").statusCode());
    assertEquals(404, get("/query/0").statusCode());
    HttpResponse<String> wrong = get("/register");
    assertEquals(405, wrong.statusCode());
    assertEquals("POST", wrong.headers().firstValue("Allow").orElse(""));
    assertTrue(post("/query", "").startsWith("405 "));
    assertEquals("413 {\"detail\":\"body must have at most 65536 bytes\"}", post("/register", "x".repeat(70_000)));
  }

  @Test
  @DisplayName("clients that stall in the middle of a request keep nobody else waiting")
  void stalled() throws Exception {
    List<Socket> stalled = new ArrayList<>();
    try {
      for (int i = 0; i < 32; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        stalled.add(socket);
        socket.getOutputStream()
            .write(
                "POST /register HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{".getBytes(StandardCharsets.UTF_8));
      }
      assertEquals("200 {}", query());
    } finally {
      for (Socket socket : stalled)
        socket.close();
    }
  }

  @Test
  @DisplayName("S3.5 K9.06 a port that is taken is named; one that was closed is free again")
  void portTaken() throws Exception {
    String message = Thrown.message(IllegalStateException.class,
        () -> BootstrapServer.start("127.0.0.1", server.port()).close());
    assertTrue(message.startsWith("bootstrap port " + server.port() + " on host 127.0.0.1 cannot be listened on"),
        message);
    int port = server.port();
    server.close();
    server.close();
    assertThrows(ConnectException.class, this::query);
    try (BootstrapServer again = BootstrapServer.start("127.0.0.1", port)) {
      assertEquals(port, again.port());
      assertEquals("200 {}", query());
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"127.0.0.1,-1,port must be 0 to 65535: -1", "127.0.0.1,65536,port must be 0 to 65535: 65536",
      "127.0.0.1:80,80,host must have no port of its own: \"127.0.0.1:80\""})
  @DisplayName("K9.03 addresses that are none are refused")
  void addresses(String host, int port, String message) {
    assertEquals(message,
        Thrown.message(IllegalArgumentException.class, () -> BootstrapServer.start(host, port).close()));
  }

  private String register(String engine, int dp, int tp, int pp, String address)
      throws IOException, InterruptedException {
    return post("/register", """
        {"engine_id": "%s", "dp_rank": %d, "tp_rank": %d, "pp_rank": %d, "addr": "%s"}""".formatted(engine, dp, tp, pp,
        address));
  }

  private String post(String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> answer = client.send(request(path).POST(BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
    return answer.statusCode() + " " + answer.body();
  }

  private String query() throws IOException, InterruptedException {
    HttpResponse<String> answer = get("/query");
    return answer.statusCode() + " " + answer.body();
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(request(path).GET().build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .timeout(Duration.ofSeconds(10));
  }
}
