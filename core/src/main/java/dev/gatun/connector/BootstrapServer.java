package dev.gatun.connector;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gatun.backend.HostPort;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bootstrap service of a prefill engine: its workers register where they listen, {@code POST /register}, and routers
 * and decode engines ask who and where they are, {@code GET /query}. Same paths and bodies as vLLM's service for
 * {@code MooncakeConnector}.
 *
 * <p>Any thread. Whoever reaches the port can register and ask: nothing here authenticates, as in vLLM.
 */
public final class BootstrapServer implements AutoCloseable {
  /** Where vLLM's service listens unless told otherwise. */
  public static final int PORT = 8998;
  /** vLLM's service listens on every interface. */
  public static final String HOST = "0.0.0.0";

  // 64 KiB: a registration has about 200 bytes
  private static final int BODY_BYTES_MAX = 64 << 10;

  private final HttpServer server;
  private final ExecutorService threads;
  private final BootstrapRegistry registry = new BootstrapRegistry();

  private BootstrapServer(HttpServer server) {
    this.server = server;
    // a client that stalls in the middle of a request holds its thread: one of a few would be missing to the others
    threads = Executors.newVirtualThreadPerTaskExecutor();
    server.setExecutor(threads);
    server.createContext("/register", exchange -> answer(exchange, "POST", registry::register));
    server.createContext("/query", exchange -> answer(exchange, "GET", body -> registry.query()));
    server.createContext("/", exchange -> send(exchange, Reply.refused(404, "Not Found")));
    server.start();
  }

  /**
   * Starts a service. It keeps the process alive until it is closed.
   *
   * @param host interface to listen on: {@link #HOST} for all, as vLLM does, {@code 127.0.0.1} for this machine alone
   * @param port 1 to 65,535, or 0 for one that is free; the router must be told the same
   * @return the running service
   * @throws IllegalArgumentException if the host is none or the port is out of range
   * @throws IllegalStateException if the port is taken or the interface is not this machine's, naming both
   */
  public static BootstrapServer start(String host, int port) {
    if (HostPort.parse("host", host, HostPort.NO_PORT).port() != HostPort.NO_PORT) {
      throw new IllegalArgumentException("host must have no port of its own: \"" + host + '"');
    }
    if (port < 0 || port > 65_535) throw new IllegalArgumentException("port must be 0 to 65535: " + port);
    try {
      return new BootstrapServer(HttpServer.create(new InetSocketAddress(host, port), 0));
    } catch (BindException e) {
      throw new IllegalStateException("bootstrap port " + port + " on host " + host
          + " cannot be listened on; choose another and tell the router the same: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new IllegalStateException("bootstrap service on host " + host + " port " + port + ": " + e, e);
    }
  }

  /** {@return the port that it listens on} */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Ends the service at once; questions that are being answered are cut off. Idempotent. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private static void answer(HttpExchange exchange, String method, Function<String, Reply> service) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (!path.equals(exchange.getHttpContext().getPath())) {
      send(exchange, Reply.refused(404, "Not Found"));
    } else if (!exchange.getRequestMethod().equals(method)) {
      exchange.getResponseHeaders().set("Allow", method);
      send(exchange, Reply.refused(405, "Method Not Allowed"));
    } else {
      String body = body(exchange);
      send(exchange, body == null
          ? Reply.refused(413, "body must have at most " + BODY_BYTES_MAX + " bytes")
          : service.apply(body));
    }
  }

  private static @Nullable String body(HttpExchange exchange) throws IOException {
    try (InputStream in = exchange.getRequestBody()) {
      byte[] bytes = in.readNBytes(BODY_BYTES_MAX + 1);
      return bytes.length > BODY_BYTES_MAX ? null : new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private static void send(HttpExchange exchange, Reply reply) throws IOException {
    byte[] bytes = ConfigJson.text(reply.body()).getBytes(StandardCharsets.UTF_8);
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(reply.status(), bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  /** An HTTP status and the JSON object that goes with it. */
  record Reply(int status, Map<String, ? extends @Nullable Object> body) {
    static Reply refused(int status, String detail) {
      return new Reply(status, Map.of("detail", detail));
    }
  }
}
