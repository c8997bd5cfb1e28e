package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Source;
import dev.gatun.testing.Await;
import dev.gatun.testing.BusyCommonPool;
import dev.gatun.testing.FreePort;
import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class BootstrapClientTest {
  private static final HostPort WORKER = new HostPort("127.0.0.1", 46351);

  private final BootstrapClient client = new BootstrapClient();

  @AfterEach
  void close() {
    client.close();
  }

  private static Source source(int port) {
    return new Source("t", "e-0", "http://127.0.0.1:" + port, new HostPort("127.0.0.1", port));
  }

  private HostPort worker(int port) throws IOException {
    return client.worker(source(port), Deadline.after(Duration.ofSeconds(20)), waker -> {});
  }

  @Test
  @DisplayName("a service answers also while every thread of the common pool waits, such as for its answer")
  @SuppressWarnings("try") // held until it is closed
  void needsNoCommonPool() throws Exception {
    try (BootstrapServer server = BootstrapServer.start("127.0.0.1", 0); BusyCommonPool busy = BusyCommonPool.hold()) {
      client.register(new HostPort("127.0.0.1", server.port()), "e-0", WORKER);
      assertEquals(WORKER, worker(server.port()));
    }
  }

  @Test
  @DisplayName("a service that is not there, refuses, or knows nobody, is named with what to look at")
  void failures() {
    int nobody = FreePort.find();
    String unregistered = Thrown.message(IllegalStateException.class,
        () -> client.register(new HostPort("127.0.0.1", nobody), "e-0", WORKER));
    assertTrue(unregistered.startsWith("bootstrap service 127.0.0.1:" + nobody + ": it cannot be reached at http://"),
        unregistered);
    String unasked = Thrown.message(IOException.class, () -> worker(nobody));
    assertTrue(unasked.startsWith("it cannot be reached at http://127.0.0.1:" + nobody + "/query: ")
        && unasked.endsWith("check the address, and that the prefill engine runs"), unasked);
    try (BootstrapServer server = BootstrapServer.start("127.0.0.1", 0)) {
      HostPort service = new HostPort("127.0.0.1", server.port());
      assertEquals("it knows no worker of engine e-0", Thrown.message(IOException.class, () -> worker(server.port())));
      client.register(service, "e-0", WORKER);
      String refused = Thrown.message(IllegalStateException.class, () -> client.register(service, "e-9", WORKER));
      assertTrue(refused.contains("refused engine e-9") && refused.contains("engine_id must be e-0"), refused);
    }
  }

  @Test
  @DisplayName("a wait is over at the deadline, or when whoever loads is told to end, whatever the service does")
  void ends() throws Exception {
    HttpServer silent = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    silent.createContext("/", exchange -> {}); // never answered
    silent.start();
    int port = silent.getAddress().getPort();
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      String late = Thrown.message(IOException.class,
          () -> client.worker(source(port), Deadline.after(Duration.ofMillis(200)), waker -> {}));
      assertTrue(late.startsWith("it did not answer http://127.0.0.1:" + port + "/query within "), late);
      AtomicReference<Runnable> end = new AtomicReference<>();
      Future<HostPort> waiting = threads
          .submit(() -> client.worker(source(port), Deadline.after(Duration.ofMinutes(10)), end::set));
      Await.until("the load waits", () -> end.get() != null);
      end.get().run();
      String ended = Thrown.message(ExecutionException.class, () -> waiting.get(30, TimeUnit.SECONDS));
      assertTrue(ended.endsWith("no answer was waited for any longer"), ended);
    } finally {
      silent.stop(0);
    }
  }

  @Test
  @DisplayName("an answer without end is not read to its end")
  void endless() throws Exception {
    HttpServer endless = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    endless.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, 0); // as long as it likes
      byte[] line = "{\"0\": \"\n".repeat(4096).getBytes(StandardCharsets.US_ASCII);
      try (OutputStream out = exchange.getResponseBody()) {
        while (true)
          out.write(line);
      }
    });
    endless.start();
    try {
      int port = endless.getAddress().getPort();
      String message = Thrown.message(IOException.class,
          () -> client.worker(source(port), Deadline.after(Duration.ofMinutes(10)), waker -> {}));
      assertTrue(message.startsWith("it cannot be reached at http://127.0.0.1:" + port + "/query: "), message);
    } finally {
      endless.stop(0);
    }
  }
}
