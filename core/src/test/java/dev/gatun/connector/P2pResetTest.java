package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.WeightEpoch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A reset that comes while loads look for a peer that says nothing. */
class P2pResetTest {
  private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();
  private final CountDownLatch asked = new CountDownLatch(1);

  @AfterEach
  void close() throws IOException {
    for (Socket socket : accepted)
      socket.close();
  }

  private void accept(ServerSocket silent) {
    try {
      while (true) {
        accepted.add(silent.accept());
        asked.countDown();
      }
    } catch (IOException closed) {
      // the test has ended
    }
  }

  private static Map<String, Object> params(P2pConnector kind, int port) {
    return kind == P2pConnector.MOONCAKE
        ? Map.of("do_remote_prefill", true, "transfer_id", "x", "remote_engine_id", "e", "remote_bootstrap_addr",
            "http://127.0.0.1:" + port)
        : TransferParams.forPull("x", "e", new HostPort("127.0.0.1", port), 2);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("K7.05 K7.09 a reset ends a load that still looks for its peer, and one that waits for its turn")
  void endsLoads(P2pConnector kind) throws Exception {
    Map<String, Object> oneThread = Map.of(kind == P2pConnector.MOONCAKE ? "num_workers" : "num_threads", 1);
    try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        P2pHost decode = new P2pHost(kind, KvRole.CONSUMER, EngineOptions.loopback(), P2pOptions.loopback("test model"),
            8, oneThread)) {
      Thread.ofVirtual().start(() -> accept(silent));
      for (String id : List.of("first", "second")) {
        KvRequest request = decode.request(id, 2, params(kind, silent.getLocalPort()));
        decode.startLoad(request, decode.lease(request));
      }
      assertTrue(asked.await(30, TimeUnit.SECONDS), "the first load has reached its peer");

      ResetReport report = decode.connector.worker().resetCache(new WeightEpoch("run", 2));

      assertTrue(report.succeeded(), report::toString);
      assertTrue(decode.connector.worker().awaitLoads(Deadline.after(Duration.ZERO)), "ended by the reset");
      decode.collect();
      assertEquals(2, decode.loads.size());
      for (FinishedTransfers.Load load : decode.loads)
        assertEquals("a reset came before it was handed over", load.reason());
    }
  }
}
