package dev.gatun.fleet;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Stands before a real engine: passes requests and answers on as they are, notes them, and can do something before one. */
final class EngineRelay implements AutoCloseable {
  private final URI engine;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .proxy(HttpClient.Builder.NO_PROXY).build();
  private final Map<String, Runnable> effects = new ConcurrentHashMap<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();

  EngineRelay(URI engine) throws IOException {
    this.engine = engine;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::pass);
    server.start();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Requests in order of arrival. */
  List<String> requests() {
    return requests;
  }

  void before(String request, Runnable effect) {
    effects.put(request, effect);
  }

  private void pass(HttpExchange exchange) throws IOException {
    try (exchange) {
      String request = exchange.getRequestMethod() + ' ' + exchange.getRequestURI();
      requests.add(request);
      effects.getOrDefault(request, () -> {}).run();
      HttpRequest passed = HttpRequest.newBuilder(engine.resolve(exchange.getRequestURI()))
          .method(exchange.getRequestMethod(),
              HttpRequest.BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()))
          .build();
      HttpResponse<byte[]> answer = client.send(passed, HttpResponse.BodyHandlers.ofByteArray());
      exchange.sendResponseHeaders(answer.statusCode(), answer.body().length == 0 ? -1 : answer.body().length);
      exchange.getResponseBody().write(answer.body());
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    server.stop(0);
    client.shutdownNow();
    threads.shutdownNow();
  }
}
