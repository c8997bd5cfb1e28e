package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import dev.gatun.fleet.Capabilities.External;
import dev.gatun.internal.http.HttpCaller;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeTest {
  private final HttpCaller caller = new HttpCaller("the engine", "look", Duration.ofSeconds(5));

  @AfterEach
  void close() {
    caller.close();
  }

  private Probe.Finding probe(FleetEngine engine, Duration time) {
    return new Probe(engine, new EngineClient(caller, engine.url()), Deadline.after(time)).run();
  }

  private Capabilities found(FakeEngine engine) {
    return assertInstanceOf(Probe.Found.class, probe(engine.standalone(), Duration.ofSeconds(30))).capabilities();
  }

  private String refused(FleetEngine engine) {
    return assertInstanceOf(Probe.Refused.class, probe(engine, Duration.ofSeconds(30))).reason();
  }

  @ParameterizedTest
  @CsvSource({"0.12.0,ABSENT", "0.9.2,ABSENT", "0.13.0,NO_OP", "v0.13.1rc2,NO_OP", "0.22.9+cu129,NO_OP",
      "0.23.0,CASCADES", "0.32.0+cpu,CASCADES", "1.0,CASCADES", "0.33.0.dev12+gabc,CASCADES", "dev,ABSENT",
      "0.1230,CASCADES", "'',ABSENT", "0.,ABSENT", "2026,ABSENT"})
  @DisplayName("S2.1 the version alone: below 0.13 no flag, below 0.23 a flag without effect, from 0.23 the real one")
  void versions(String version, External external) {
    assertEquals(external, Capabilities.external(EngineVersion.of(version), false));
  }

  @Test
  @DisplayName("an engine of 0.32 can be paused, and passes the reset on; only questions were sent")
  void current() {
    try (FakeEngine engine = FakeEngine.vllm()) {
      Capabilities can = found(engine);
      assertTrue(can.pause() && can.described() && can.abort());
      assertEquals(External.CASCADES, can.external());
      assertEquals("0.32.0+cpu", can.version().text());
      assertEquals(List.of(), engine.posts());
    }
  }

  @Test
  @DisplayName("S2.1 a fork that states 0.32 and has no such flag is not sent it")
  void lyingFork() {
    try (FakeEngine engine = FakeEngine.vllm("fork")) {
      assertEquals(External.ABSENT, found(engine).external());
    }
  }

  @Test
  @DisplayName("an engine that serves no description is asked itself, without changing anything")
  void undescribed() {
    try (FakeEngine engine = FakeEngine.vllm().without("GET /openapi.json");
        FakeEngine old = FakeEngine.of("vllm-0.12")) {
      assertTrue(found(engine).pause());
      assertFalse(found(engine).described());
      assertFalse(found(old).pause());
      assertEquals(List.of(), old.posts());
    }
  }

  @Test
  @DisplayName("a router is known by its list of workers, which the refusal names, and not by what it lacks")
  void router() {
    try (FakeEngine router = FakeEngine.of("router")) {
      String reason = refused(router.standalone());
      assertTrue(reason.contains("is a router of 2 workers") && reason.contains("http://127.0.0.1:18120"), reason);
    }
  }

  @Test
  @DisplayName("development endpoints switched off: refused, with the setting that mends it")
  void developmentOff() {
    try (FakeEngine engine = FakeEngine.of("dev-mode-off")) {
      String reason = refused(engine.standalone());
      assertTrue(reason.contains("VLLM_SERVER_DEV_MODE=1"), reason);
      assertEquals(List.of(), engine.posts());
    }
  }

  @Test
  @DisplayName("something that states no version is refused: check kind and address")
  void stranger() {
    try (FakeEngine engine = FakeEngine.vllm(); FakeEngine sglang = FakeEngine.of("sglang-0.5")) {
      assertTrue(refused(new FleetEngine(engine.url(), EngineKind.SGLANG, RolloutMode.STANDALONE, 0, List.of()))
          .contains("check kind and address"));
      assertTrue(refused(sglang.standalone()).contains("check kind and address"));
    }
  }

  @Test
  @DisplayName("nothing is sent once the deadline is reached: what nobody waits for would be done all the same")
  void sendsNothingLate() {
    try (FakeEngine engine = FakeEngine.vllm()) {
      EngineClient client = new EngineClient(caller, engine.url());
      for (int i = 0; i < 20; i++)
        assertThrows(DeadlineException.class,
            () -> client.send("POST", "/resume", null, Deadline.after(Duration.ZERO)));
      client.get("/version", Deadline.after(Duration.ofSeconds(30)));
      assertEquals(List.of("GET /version"), engine.requests());
    }
  }

  @Test
  @DisplayName("a master is gone only if its port refuses a connection now")
  void masterPort() throws Exception {
    Deadline deadline = Deadline.after(Duration.ofSeconds(30));
    int port;
    try (ServerSocket master = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = master.getLocalPort();
      assertFalse(MasterPort.refuses("127.0.0.1:" + port, deadline));
    }
    assertTrue(MasterPort.refuses("127.0.0.1:" + port, deadline));
    for (String unclear : List.of("etcd://127.0.0.1:" + port, "127.0.0.1", "127.0.0.1:0", "no host:1", "loopback:x"))
      assertFalse(MasterPort.refuses(unclear, deadline), unclear);
  }

  @Test
  @DisplayName("an engine that hangs ends at the deadline, one that is gone at once, each as what it is")
  void unanswered() {
    FleetEngine gone;
    try (FakeEngine engine = FakeEngine.vllm().hangingAt("GET /version")) {
      gone = engine.standalone();
      assertThrows(DeadlineException.class, () -> probe(engine.standalone(), Duration.ofMillis(200)));
    }
    GatunException refused = assertThrows(GatunException.class, () -> probe(gone, Duration.ofSeconds(30)));
    assertFalse(refused instanceof DeadlineException, refused.toString());
  }
}
