package dev.gatun.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An engine that answers from transcripts, each of which says where its answers were recorded. What no transcript names is
 * 404, as a real engine answers.
 */
final class FakeEngine implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private record Canned(int status, String body) {}

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Canned> answers = new ConcurrentHashMap<>();
  private final Map<String, Runnable> effects = new ConcurrentHashMap<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile String state = ""; // as its transcript says, until it is told to pause or resume

  private FakeEngine() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  /** Starts one; later transcripts overrule earlier ones. */
  static FakeEngine of(String... transcripts) {
    FakeEngine engine = new FakeEngine();
    for (String name : transcripts)
      engine.learn(name);
    return engine;
  }

  /** An engine of 0.32 that answers these differently. */
  static FakeEngine vllm(String... differences) {
    FakeEngine engine = of("vllm-0.32");
    for (String name : differences)
      engine.learn(name);
    return engine;
  }

  void learn(String transcript) {
    try (InputStream file = Objects.requireNonNull(FakeEngine.class.getResourceAsStream(transcript + ".json"),
        transcript)) {
      for (JsonNode canned : JSON.readTree(file).path("answers")) {
        if (canned.path("from").asText().isEmpty()) throw new IllegalStateException("no source: " + canned);
        JsonNode body = canned.path("body");
        answers.put(canned.path("request").asText(), new Canned(canned.path("status").asInt(),
            body.isTextual() ? body.textValue() : body.toString()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers a request so from now on. */
  FakeEngine answering(String request, int status, String body) {
    answers.put(request, new Canned(status, body));
    return this;
  }

  /** Somebody pauses or resumes it. */
  private void paused(boolean value) {
    state = "{\"is_paused\":" + value + '}';
  }

  /** Says this of whether it is paused from now on. */
  void states(String body) {
    state = body;
  }

  /** It pauses, whatever becomes of the answer. */
  void pause() {
    paused(true);
  }

  /** Somebody else resumes it. */
  void resume() {
    paused(false);
  }

  /** Breaks the connection instead of answering a request. */
  FakeEngine breakingAt(String request) {
    return before(request, () -> {
      throw new IllegalStateException("broken off");
    });
  }

  /** Forgets the answer to a request. */
  FakeEngine without(String request) {
    answers.remove(request);
    return this;
  }

  /** Does something before a request is answered. */
  FakeEngine before(String request, Runnable effect) {
    effects.put(request, effect);
    return this;
  }

  /** Leaves a request unanswered until the end. */
  FakeEngine hangingAt(String request) {
    return before(request, this::awaitEnd);
  }

  private void awaitEnd() {
    try {
      end.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  FleetEngine standalone() {
    return new FleetEngine(url(), EngineKind.VLLM, RolloutMode.STANDALONE, 0, List.of());
  }

  /** Requests in order of arrival. */
  List<String> requests() {
    return requests;
  }

  /** Requests that change something. */
  List<String> posts() {
    return requests.stream().filter(request -> request.startsWith("POST")).toList();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      String request = exchange.getRequestMethod() + ' ' + exchange.getRequestURI()
          + (body.isEmpty() ? "" : ' ' + body);
      requests.add(request);
      Runnable effect = effects.get(request);
      if (effect != null) effect.run();
      Canned canned = answers.getOrDefault(request, new Canned(404, "{\"detail\":\"Not Found\"}"));
      if (canned.body().equals("{\"status\":\"paused\"}")) paused(true);
      if (canned.status() == 200 && request.equals("POST /resume")) paused(false);
      boolean asked = canned.status() == 200 && request.equals("GET /is_paused") && !state.isEmpty();
      byte[] bytes = (asked ? state : canned.body()).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(canned.status(), bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  @Override
  public void close() {
    end.countDown();
    server.stop(0);
    threads.close();
  }
}
