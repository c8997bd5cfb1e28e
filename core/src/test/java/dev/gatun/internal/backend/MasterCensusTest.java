package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCensus;
import dev.gatun.testing.FreePort;
import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a census does when the administration answers strangely, slowly or not at all; a real one does so too rarely. */
@Timeout(60)
class MasterCensusTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Map<String, String> pages = new ConcurrentHashMap<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private final CountDownLatch hungUp = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private HttpServer server;
  private MasterCensus census;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
    census = new MasterCensus(url(), PATIENCE);
    pages.put("/health", "{\"status\":\"ok\",\"role\":\"leader\",\"view_version\":null}");
    pages.put("/role", "leader");
    pages.put("/metrics", metrics(7, 10, 20, 9, 18, 1, 2));
    pages.put("/get_all_keys", "k2\nk0\nk1\n");
  }

  @AfterEach
  void stop() {
    end.countDown();
    census.close();
    server.stop(0);
    threads.shutdownNow();
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) {
    String body = pages.get(exchange.getRequestURI().getPath());
    try (exchange) {
      if (body == null) {
        exchange.sendResponseHeaders(503, -1);
      } else if (body.equals("silence")) {
        end.await();
      } else if (body.equals("slow")) {
        exchange.sendResponseHeaders(200, 0);
        while (!end.await(10, TimeUnit.MILLISECONDS)) {
          exchange.getResponseBody().write("key\n".getBytes(StandardCharsets.UTF_8));
          exchange.getResponseBody().flush();
        }
      } else if (body.equals("endless")) {
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        while (true)
          out.write("key\n".getBytes(StandardCharsets.UTF_8));
      } else {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
      }
    } catch (IOException clientHungUp) {
      hungUp.countDown(); // what an endless answer ends with
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String metrics(long keys, long start, long starts, long end, long ends, long revoke, long revokes) {
    return """
        # HELP master_key_count Total number of keys managed by the master
        # TYPE master_key_count gauge
        master_key_count %d
        master_value_size_bytes_bucket{le="4096.000000"} 6
        master_put_start_requests_total %d
        master_batch_put_start_items_total %d
        master_put_end_requests_total %d
        master_batch_put_end_items_total %d
        master_put_revoke_requests_total %d
        master_batch_put_revoke_items_total %d
        """.formatted(keys, start, starts, end, ends, revoke, revokes);
  }

  private static Deadline patient() {
    return Deadline.after(PATIENCE);
  }

  private String startIdAfter(String page, String body) {
    pages.put(page, body);
    return census.read(patient()).startId();
  }

  @Test
  @DisplayName("no proxy stands between a census and its master: a cached answer would prove nothing")
  void noProxy() {
    ProxySelector before = ProxySelector.getDefault();
    ProxySelector.setDefault(ProxySelector.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)));
    try (MasterCensus direct = new MasterCensus(url(), PATIENCE)) {
      assertEquals(7, direct.read(Deadline.after(PATIENCE)).keyCount());
    } finally {
      ProxySelector.setDefault(before);
    }
  }

  @Test
  @DisplayName("single requests and keys of batches are added up")
  void sums() {
    StoreCensus.Reading reading = census.read(patient());
    assertEquals(new StoreCensus.Reading(7, 30, 27, 3, "leader", url() + " restarts 0"), reading);
    assertEquals(url(), census.source());
  }

  @Test
  @DisplayName("K8 a counter that fell is a restart, as is another view; a gauge that fell is neither")
  void restarts() {
    String first = census.read(patient()).startId();
    assertEquals(first, startIdAfter("/metrics", metrics(0, 11, 20, 9, 18, 1, 2)));
    String second = startIdAfter("/metrics", metrics(0, 11, 20, 8, 18, 1, 2));
    assertNotEquals(first, second);
    assertEquals(second, startIdAfter("/metrics", metrics(0, 11, 20, 8, 18, 1, 2)));
    String third = startIdAfter("/health", "{\"view_version\": 12}");
    assertNotEquals(second, third);
    assertNotEquals(third, startIdAfter("/health", "{\"view_version\": 13}"));
  }

  @Test
  @DisplayName("K1.14 files on disk, or room for them, are said to be beyond what the counters count")
  void disk() {
    String plain = metrics(7, 1, 1, 1, 1, 1, 1);
    pages.put("/metrics", plain);
    assertEquals(List.of(), census.uncounted(patient()));
    pages.put("/metrics", plain + "master_total_file_capacity_bytes 0\nmaster_allocated_file_size_bytes 0\n");
    assertEquals(List.of(), census.uncounted(patient()));
    for (String gauge : List.of("master_total_file_capacity_bytes", "master_allocated_file_size_bytes")) {
      pages.put("/metrics", plain + gauge + " 4096\n");
      assertEquals(1, census.uncounted(patient()).size(), gauge);
    }
  }

  @Test
  @DisplayName("a gauge that is missing is an error by its name, never a zero")
  void missingGauge() {
    pages.put("/metrics", metrics(7, 1, 1, 1, 1, 1, 1).replace("master_key_count 7", "master_keys 7"));
    assertTrue(Thrown.message(GatunException.class, () -> census.read(patient()))
        .contains("/metrics has no master_key_count"));
    pages.put("/metrics", "<html>welcome</html>");
    assertThrows(GatunException.class, () -> census.read(patient()));
    pages.put("/metrics", metrics(7, 1, 1, 1, 1, 1, 1).replace("master_key_count 7", "master_key_count many"));
    assertThrows(GatunException.class, () -> census.read(patient()));
  }

  @Test
  @DisplayName("the words of something that is no master are not taken for keys")
  void foreignKeys() {
    String page = "<html>\nwelcome\n</html>\n";
    pages.put("/metrics", page);
    pages.put("/get_all_keys", page);
    assertEquals("no Mooncake master answers at " + url() + ": its /metrics has no master_key_count; check the address",
        Thrown.message(GatunException.class, () -> census.keys(10, patient())));
  }

  @Test
  @DisplayName("the largest segment is told, whatever else the answer holds; nothing is told where there is none")
  void largestSegment() {
    pages.put("/get_segments_detail",
        "{\"segments\":[{\"size_bytes\":16777216},{\"size_bytes\":33554432},{\"size_bytes\":\"big\"},{}]}");
    assertEquals(OptionalLong.of(33_554_432), census.largestSegmentBytes(patient()));
    for (String other : List.of("{\"segments\":[]}", "{}", "[]", "<html>", "null")) {
      pages.put("/get_segments_detail", other);
      assertEquals(OptionalLong.empty(), census.largestSegmentBytes(patient()), other);
    }
  }

  @Test
  @DisplayName("another status than 200 is an error with address and status")
  void badStatus() {
    for (String page : List.of("/health", "/role", "/metrics")) {
      String body = pages.remove(page);
      assertEquals("the master's administration answered " + url() + page + " with 503",
          Thrown.message(GatunException.class, () -> census.read(patient())));
      pages.put(page, String.valueOf(body));
    }
    pages.remove("/get_all_keys");
    assertEquals("the master's administration answered " + url() + "/get_all_keys with 503",
        Thrown.message(GatunException.class, () -> census.keys(1, patient())));
  }

  @Test
  @DisplayName("K7.03 silence ends at the caller's deadline or at the time limit, whichever is first")
  void silence() {
    pages.put("/metrics", "silence");
    pages.put("/get_all_keys", "silence");
    assertTrue(Thrown.message(DeadlineException.class, () -> census.read(Deadline.after(Duration.ofMillis(200))))
        .contains("did not answer " + url() + "/metrics within"));
    assertThrows(DeadlineException.class, () -> census.keys(5, Deadline.after(Duration.ofMillis(200))));
    try (MasterCensus hasty = new MasterCensus(url(), Duration.ofMillis(200))) {
      assertThrows(DeadlineException.class, () -> hasty.read(patient()));
    }
  }

  @Test
  @DisplayName("keys are taken up to the limit, and an endless list is hung up on")
  void keys() {
    assertEquals(List.of("k2", "k0", "k1"), census.keys(10, patient()));
    assertEquals(List.of("k2", "k0"), census.keys(2, patient()));
    assertEquals(List.of(), census.keys(0, patient()));
    pages.put("/get_all_keys", "");
    assertEquals(List.of(), census.keys(10, patient()));
    pages.put("/get_all_keys", "endless");
    assertEquals(1000, census.keys(1000, patient()).size());
    assertThrows(IllegalArgumentException.class, () -> census.keys(-1, patient()));
  }

  @Test
  @DisplayName("K7.03 a list that is not there by the deadline is hung up on")
  void slowKeys() throws InterruptedException {
    pages.put("/get_all_keys", "slow");
    assertThrows(DeadlineException.class, () -> census.keys(Integer.MAX_VALUE, Deadline.after(Duration.ofMillis(200))));
    assertTrue(hungUp.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
  }

  @Test
  @DisplayName("nobody there is an error with the address and what to check")
  void nobody() {
    String address = "http://127.0.0.1:" + FreePort.find();
    try (MasterCensus lost = new MasterCensus(address, PATIENCE)) {
      for (String message : List.of(Thrown.message(GatunException.class, () -> lost.read(patient())),
          Thrown.message(GatunException.class, () -> lost.keys(1, patient())))) {
        assertTrue(message.startsWith("the master's administration cannot be reached at " + address), message);
      }
    }
  }

  @Test
  @DisplayName("an interrupt ends the wait and stays pending")
  void interrupted() {
    pages.put("/metrics", "silence");
    Thread.currentThread().interrupt();
    assertThrows(DeadlineException.class, () -> census.read(patient()));
    assertTrue(Thread.interrupted());
  }
}
