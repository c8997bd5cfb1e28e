package dev.gatun.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server that answers as vLLM 0.32 does in the transcripts of core's tests; orders have no body. */
final class PlainEngine implements AutoCloseable {
  private static final Map<String, String> ANSWERS = Map.of("GET /version", "{\"version\": \"0.32.0+cpu\"}",
      "GET /is_paused", "{\"is_paused\": false}", "GET /openapi.json", """
          {"paths": {"/reset_prefix_cache": {"post": {"parameters": [{"name": "reset_external"}]}}, "/pause": {},
           "/resume": {}}}""",
      "POST /pause?mode=abort&clear_cache=false", "{\"status\": \"paused\"}",
      "POST /reset_prefix_cache?reset_external=true", "{\"success\": true}", "POST /resume",
      "{\"status\": \"resumed\"}");

  private final ServerSocket server;
  private final Map<String, String> answers = new ConcurrentHashMap<>(ANSWERS);
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private volatile String hangs = "";

  PlainEngine() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("engine").start(this::serve);
  }

  /** Makes it a router. */
  PlainEngine routing() {
    answers.put("GET /list_workers", "{\"urls\": [\"http://127.0.0.1:1\"]}");
    return this;
  }

  /** Leaves an order unanswered until the end. */
  PlainEngine hangingAt(String order) {
    hangs = order;
    return this;
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  /** {@return orders in their order} */
  List<String> posts() {
    return requests.stream().filter(request -> request.startsWith("POST")).toList();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        BufferedReader lines = new BufferedReader(
            new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
        String first = String.valueOf(lines.readLine()).replace(" HTTP/1.1", "");
        requests.add(first);
        for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
          // headers say nothing that matters
        }
        if (first.equals(hangs)) {
          lines.readLine(); // until the client hangs up
          continue;
        }
        String body = answers.get(first);
        OutputStream out = client.getOutputStream();
        String text = body == null ? "{\"detail\": \"Not Found\"}" : body;
        out.write(
            ("HTTP/1.1 " + (body == null ? "404 Not Found" : "200 OK") + "\r\nConnection: close\r\nContent-Length: "
                + text.length() + "\r\n\r\n" + text).getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
      } catch (IOException hungUp) {
        // the client has had enough, or the test ends
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
