package dev.gatun.connector;

import static dev.gatun.connector.P2pHost.compute;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.testing.Await;
import dev.gatun.testing.FreePort;
import dev.gatun.testing.Thrown;
import dev.gatun.transfer.SteeredBackend;
import dev.gatun.transfer.TransferBatch;
import dev.gatun.transfer.TransferEngine;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The beginning and the end of connectors, where something is in the way. */
class P2pCloseTest {
  private static final String COPY = "engine.copy";
  private static final int BLOCKS = 16;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final EngineOptions IMPATIENT = EngineOptions.loopback().withTimeouts(LIMIT, Duration.ofMillis(50));
  private static final P2pOptions OPTIONS = P2pOptions.loopback("test model");

  @BeforeEach
  @AfterEach
  void calm() {
    LoopbackControls.reset();
  }

  private static P2pHost host(KvRole role, P2pOptions options) {
    return new P2pHost(P2pConnector.MOONCAKE, role, EngineOptions.loopback(), options, BLOCKS);
  }

  @Test
  @DisplayName("K6.04 a prefill that is closed while it writes keeps its port, and decode its quarantine, until the last byte")
  void keepsItsPort() throws Exception {
    try (P2pHost prefill = host(KvRole.PRODUCER, OPTIONS); P2pHost decode = host(KvRole.CONSUMER, OPTIONS)) {
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      BlockTable computed = offer(prefill, "x");
      BlockTable room = startLoad(prefill, decode, "x");
      Await.until("the push hangs", () -> LoopbackControls.hanging(COPY) >= 1);
      // decode gives up what prefill has begun
      assertTrue(decode.connector.worker().resetCache(new WeightEpoch("run", 2)).succeeded());
      Thread closing = Thread.ofPlatform().start(prefill.connector::close);
      Await.until("prefill waits for its pushes", () -> waits(closing));

      assertAnswers(prefill);
      assertEquals(4, decode.pool.quarantined());
      LoopbackControls.release(COPY);
      closing.join();
      assertClosed(prefill, decode);
      decode.release(room);
      prefill.release(computed);
      assertEquals(BLOCKS, decode.pool.available());
    } finally {
      LoopbackControls.release(COPY);
    }
  }

  @Test
  @DisplayName("K6.06 a push that missed its deadline counts as running: the port stays, and the next close ends it")
  void inDoubt() throws Exception {
    P2pOptions impatient = OPTIONS.withTimeouts(Duration.ofMillis(500), LIMIT);
    try (P2pHost prefill = host(KvRole.PRODUCER, impatient); P2pHost decode = host(KvRole.CONSUMER, OPTIONS)) {
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      // on a busy machine the deadline may come before the first byte moves: that leaves nothing in doubt
      for (int attempt = 0; prefill.engine.inDoubt() == 0; attempt++) {
        assertTrue(attempt < 20, () -> decode.loads.toString());
        BlockTable computed = offer(prefill, "x" + attempt);
        BlockTable room = startLoad(prefill, decode, "x" + attempt);
        assertTrue(decode.connector.worker().awaitLoads(Deadline.after(LIMIT)));
        prefill.awaitSaves();
        prefill.release(computed);
        decode.release(room);
      }
      prefill.connector.close();

      assertAnswers(prefill);
      assertEquals(4, decode.pool.quarantined());
      assertEquals(1, prefill.engine.registrations());
      LoopbackControls.release(COPY);
      Await.until("nothing is in doubt", () -> prefill.engine.inDoubt() == 0);
      prefill.connector.close();
      assertClosed(prefill, decode);
      assertEquals(BLOCKS, decode.pool.available());
    } finally {
      LoopbackControls.release(COPY);
    }
  }

  @Test
  @DisplayName("a prefill one of whose pushes failed without saying what still moves keeps its port until its engine is gone")
  void lostAttempt() throws Exception {
    try (P2pHost prefill = new P2pHost(P2pConnector.MOONCAKE, KvRole.PRODUCER,
        gate -> TransferEngine.open(SteeredBackend.unsettled(), EngineOptions.loopback(), gate), OPTIONS, BLOCKS,
        Map.of());
        P2pHost decode = host(KvRole.CONSUMER, OPTIONS)) {
      LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
      BlockTable computed = offer(prefill, "x");
      BlockTable room = startLoad(prefill, decode, "x");
      assertTrue(decode.connector.worker().awaitLoads(Deadline.after(LIMIT)));
      prefill.awaitSaves();
      prefill.connector.close();

      assertAnswers(prefill);
      assertEquals(4, decode.pool.quarantined());
      assertEquals(List.of(), prefill.engine.close(Deadline.after(LIMIT)));
      assertClosed(prefill, decode);
      decode.release(room);
      prefill.release(computed);
      assertEquals(BLOCKS, decode.pool.available());
    }
  }

  @Test
  @DisplayName("a decode whose prefill says nothing any more is closed: what was granted goes with the engine")
  void silentSender() {
    try (P2pHost prefill = host(KvRole.PRODUCER, OPTIONS);
        P2pHost decode = new P2pHost(P2pConnector.MOONCAKE, KvRole.CONSUMER, IMPATIENT, OPTIONS, BLOCKS)) {
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      BlockTable computed = offer(prefill, "x");
      BlockTable room = startLoad(prefill, decode, "x");
      Await.until("the push hangs", () -> LoopbackControls.hanging(COPY) >= 1);
      assertTrue(decode.connector.worker().resetCache(new WeightEpoch("run", 2)).succeeded());
      decode.connector.close();

      assertEquals(4, decode.pool.quarantined());
      assertEquals(1, decode.engine.registrations());
      assertEquals(List.of(), decode.engine.close(Deadline.after(LIMIT)));
      assertEquals(0, decode.pool.quarantined());
      decode.release(room);
      assertEquals(BLOCKS, decode.pool.available());
      LoopbackControls.release(COPY);
      prefill.awaitSaves();
      prefill.release(computed);
    } finally {
      LoopbackControls.release(COPY);
    }
  }

  @Test
  @DisplayName("a prefill whose reader died while it read is closed: its cache goes with the engine")
  void deadReader() {
    try (P2pHost prefill = new P2pHost(P2pConnector.NIXL, KvRole.PRODUCER, IMPATIENT, OPTIONS, BLOCKS);
        P2pHost decode = new P2pHost(P2pConnector.NIXL, KvRole.CONSUMER, EngineOptions.loopback(), OPTIONS, BLOCKS)) {
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      KvRequest from = prefill.request("p", 4, Map.of("do_remote_decode", true));
      BlockTable computed = prefill.lease(from);
      compute(prefill.pool, computed, 1);
      KvRequest to = decode.request("d", 4, prefill.offer(from, computed).transferParams());
      BlockTable room = decode.lease(to);
      decode.startLoad(to, room);
      Await.until("the pull hangs", () -> LoopbackControls.hanging(COPY) >= 1);
      assertEquals(List.of(), decode.engine.abort(Deadline.after(LIMIT)));
      assertTrue(prefill.connector.worker().resetCache(new WeightEpoch("run", 2)).succeeded());
      prefill.awaitSaves();
      prefill.release(computed);
      assertEquals(BLOCKS, prefill.pool.available(), "a reader that is late is told so, and holds no block");
      prefill.connector.close();

      assertEquals(1, prefill.engine.registrations());
      assertEquals(List.of(), prefill.engine.close(Deadline.after(LIMIT)));
      assertEquals(0, prefill.engine.registrations());
      decode.release(room);
    } finally {
      LoopbackControls.release(COPY);
    }
  }

  private static boolean waits(Thread closing) {
    return Arrays.stream(closing.getStackTrace()).anyMatch(frame -> frame.getClassName().endsWith(".TransferLog"));
  }

  private static void assertAnswers(P2pHost prefill) throws IOException {
    Deadline deadline = Deadline.after(LIMIT);
    try (PeerConnection connection = PeerConnection.open(prefill.worker(), deadline)) {
      assertNotNull(connection.peer(deadline));
    }
  }

  private static void assertClosed(P2pHost prefill, P2pHost decode) {
    assertThrows(ConnectException.class, () -> PeerConnection.open(prefill.worker(), Deadline.after(LIMIT)));
    assertEquals(0, prefill.engine.registrations());
    Await.until("the room is free", () -> decode.pool.quarantined() == 0);
  }

  @Test
  @DisplayName("K6.05 a cache that the host still moves is unregistered by the next close, not forgotten")
  void unregistersLater() {
    try (P2pHost host = new P2pHost(P2pConnector.NIXL, KvRole.BOTH, IMPATIENT, OPTIONS, BLOCKS);
        P2pHost peer = host(KvRole.CONSUMER, OPTIONS);
        TransferBatch batch = host.engine.batch(host.pool, 1)) {
      KvRequest request = host.request("r", 1, Map.of());
      long block = host.lease(request).get(0);
      compute(host.pool, BlockTable.of(block), 1);
      long target = peer.lease(peer.request("r", 1, Map.of())).get(0);
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      batch.write(block, host.engine.openSegment(peer.engine.descriptor()),
          peer.pool.blockAddress(target) + peer.pool.headerBytes());
      batch.submit();
      assertThrows(InUseException.class, host.connector::close);
      assertEquals(1, host.engine.registrations());
      LoopbackControls.release(COPY);
      batch.await(Deadline.after(LIMIT));
      host.connector.close();
      assertEquals(0, host.engine.registrations());
    } finally {
      LoopbackControls.release(COPY);
    }
  }

  @ParameterizedTest(name = "bootstrap elsewhere: {0}")
  @ValueSource(booleans = {false, true})
  @DisplayName("K6.12 a connector that cannot be opened leaves nothing behind: no port, no part of the gate")
  void failedOpen(boolean elsewhere) throws Exception {
    EpochGate gate = new EpochGate(P2pHost.EPOCH);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        TransferEngine engine = TransferEngine.open(EngineOptions.loopback(), gate)) {
      RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(), RefitPolicy.DEFAULT, Observer.NONE);
      int port = elsewhere ? FreePort.find() : taken.getLocalPort();
      KvTransferConfig config = KvTransferConfig.builder().kvConnector("MooncakeConnector").kvRole(KvRole.PRODUCER)
          .extraConfig(elsewhere ? Map.of("bootstrap_server_address", "127.0.0.1:" + port) : Map.of()).build();
      P2pOptions options = OPTIONS.withBootstrap("127.0.0.1", elsewhere ? 0 : port);
      List<Quiescable> parts = gate.parts();
      long ports = ports();

      String message = Thrown.message(IllegalStateException.class,
          () -> MooncakeConnector.open(config, engine, coordinator, options));

      assertTrue(message.contains(String.valueOf(port)), message);
      assertEquals(parts, gate.parts());
      Await.until("no port is listened on", () -> ports() == ports);
    }
  }

  private static long ports() {
    return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("gatun-peers"))
        .count();
  }

  private static BlockTable offer(P2pHost prefill, String transfer) {
    KvRequest from = prefill.request("p" + transfer, 4, Map.of("do_remote_decode", true, "transfer_id", transfer));
    BlockTable computed = prefill.lease(from);
    compute(prefill.pool, computed, 1);
    prefill.offer(from, computed);
    return computed;
  }

  private static BlockTable startLoad(P2pHost prefill, P2pHost decode, String transfer) {
    KvRequest to = decode.request("d" + transfer, 4, Map.of("do_remote_prefill", true, "transfer_id", transfer,
        "remote_engine_id", prefill.config.engineId(), "remote_bootstrap_addr",
        "http://127.0.0.1:" + prefill.bootstrapPort()));
    BlockTable room = decode.lease(to);
    decode.startLoad(to, room);
    return room;
  }
}
