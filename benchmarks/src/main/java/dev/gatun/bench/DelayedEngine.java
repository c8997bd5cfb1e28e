package dev.gatun.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/** An engine that answers as vLLM 0.32 does, each request that changes something after a fixed time. */
final class DelayedEngine implements AutoCloseable {
  private static final Map<String, String> QUESTIONS = Map.of("/version", "{\"version\": \"0.32.0\"}", "/is_paused",
      "{\"is_paused\": false}", "/openapi.json", """
          {"paths": {"/reset_prefix_cache": {"post": {"parameters": [{"name": "reset_external"}]}}, "/pause": {},
           "/resume": {}}}""");
  private static final Map<String, String> ORDERS = Map.of("/pause", "{\"status\": \"paused\"}", "/resume",
      "{\"status\": \"resumed\"}", "/reset_prefix_cache", "{\"success\": true}");
  // every connection of a burst is taken
  private static final int BACKLOG = 64;

  private final HttpServer server;
  private final long delayNanos;

  DelayedEngine(long delayNanos, Executor threads) throws IOException {
    this.delayNanos = delayNanos;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      boolean order = exchange.getRequestMethod().equals("POST");
      if (order) pause();
      String body = (order ? ORDERS : QUESTIONS).get(exchange.getRequestURI().getPath());
      byte[] bytes = (body == null ? "{\"detail\": \"Not Found\"}" : body).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(body == null ? 404 : 200, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private void pause() {
    long until = System.nanoTime() + delayNanos;
    while (until - System.nanoTime() > 0)
      LockSupport.parkNanos(until - System.nanoTime());
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
