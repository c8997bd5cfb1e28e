package dev.gatun.internal.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import dev.gatun.backend.Deadline;
import dev.gatun.testing.BusyCommonPool;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class HttpCallerTest {
  @Test
  @DisplayName("answers come also while every thread of the common pool waits, such as for the answer")
  @SuppressWarnings("try") // held until it is closed
  void needsNoCommonPool() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      try (exchange) {
        exchange.sendResponseHeaders(200, 2);
        exchange.getResponseBody().write("ok".getBytes(StandardCharsets.US_ASCII));
      }
    });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    try (BusyCommonPool busy = BusyCommonPool.hold();
        HttpCaller caller = new HttpCaller("the server", "look", Duration.ofSeconds(5))) {
      assertEquals("ok", caller.await(url, caller.send(HttpRequest.newBuilder(URI.create(url)).build(),
          BodyHandlers.ofString(), 16), Deadline.after(Duration.ofSeconds(10))).body());
    } finally {
      server.stop(0);
    }
  }
}
