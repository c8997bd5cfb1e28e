package dev.gatun.connector;

import static dev.gatun.connector.P2pHost.compute;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.HostPort;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.testing.Await;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Prefill goes while its pages are still on their way. */
class P2pCloseTest {
  private static final String COPY = "engine.copy";
  private static final int BLOCKS = 16;
  private static final Duration LIMIT = Duration.ofSeconds(30);
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
  @DisplayName("K6.04 K6.06 a prefill that is closed while it writes keeps its port, and decode its quarantine, until the last byte")
  void keepsItsPort() throws Exception {
    try (P2pHost prefill = host(KvRole.PRODUCER, OPTIONS.withTimeouts(Duration.ofMillis(300), LIMIT));
        P2pHost decode = host(KvRole.CONSUMER, OPTIONS)) {
      HostPort port = ((P2pWorker) prefill.connector.worker()).address();
      BlockTable room = failedPush(prefill, decode);
      assertEquals(1, prefill.engine.inDoubt());

      prefill.connector.close();

      PeerConnection.open(port, Deadline.after(LIMIT)).close();
      assertEquals(4, decode.pool.quarantined());
      assertEquals(1, prefill.engine.registrations());
      LoopbackControls.release(COPY);
      Await.until("nothing is in doubt", () -> prefill.engine.inDoubt() == 0);
      prefill.connector.close();
      assertThrows(ConnectException.class, () -> PeerConnection.open(port, Deadline.after(LIMIT)));
      assertEquals(0, prefill.engine.registrations());
      Await.until("the room is free", () -> decode.pool.quarantined() == 0);
      decode.release(room);
      assertEquals(BLOCKS, decode.pool.available());
    } finally {
      LoopbackControls.release(COPY);
    }
  }

  /** A push whose bytes hang, so that both sides have given it up. {@return the room that it writes into} */
  private static BlockTable failedPush(P2pHost prefill, P2pHost decode) {
    KvRequest from = prefill.request("p", 4, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill.lease(from);
    compute(prefill.pool, computed, 1);
    prefill.offer(from, computed);
    KvRequest to = decode.request("d", 4, Map.of("do_remote_prefill", true, "transfer_id", "x", "remote_engine_id",
        prefill.config.engineId(), "remote_bootstrap_addr", "http://127.0.0.1:" + prefill.bootstrapPort()));
    BlockTable room = decode.lease(to);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    FinishedTransfers.Load load = decode.load(to, room);
    assertFalse(load.complete());
    assertTrue(load.reason().contains("IN_DOUBT"), load::reason);
    prefill.awaitSaves();
    prefill.release(computed);
    return room;
  }
}
