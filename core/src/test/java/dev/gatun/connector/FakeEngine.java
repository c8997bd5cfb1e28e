package dev.gatun.connector;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/** The HTTP side of an engine as a router sees it: healthy, and it answers completions and remembers their bodies. */
final class FakeEngine implements AutoCloseable {
  private final HttpServer server;
  private final List<Map<?, ?>> completions = new CopyOnWriteArrayList<>();

  FakeEngine() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/health", exchange -> answer(exchange, 200, ""));
    server.createContext("/", exchange -> answer(exchange, 404, ""));
    server.createContext("/v1/completions", exchange -> {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      completions.add(ConfigJson.object("completion", body));
      answer(exchange, 200, """
          {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "tiny", "kv_transfer_params": null,
           "choices": [{"index": 0, "text": "x", "logprobs": null, "finish_reason": "length"}],
           "usage": {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}}""");
    });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Bodies of the completions it was asked for, in order. */
  List<Map<?, ?>> completions() {
    return completions;
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
