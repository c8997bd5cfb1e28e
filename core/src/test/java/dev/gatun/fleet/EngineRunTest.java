package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.fleet.FleetReport.Step;
import dev.gatun.internal.http.HttpCaller;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What one engine's answers make of a phase, however oddly its server speaks HTTP. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class EngineRunTest {
  private static final String RESET = "POST /reset_prefix_cache?reset_external=true";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final HttpCaller caller = new HttpCaller("the engine", "look", Duration.ofSeconds(5));

  @AfterEach
  void close() {
    caller.close();
  }

  private EngineRun paused(FleetEngine engine) {
    EngineRun run = new EngineRun(engine);
    run.probe(FleetConfig.of(Map.of("run", "r", "weight_version", 2, "master", "127.0.0.1:1", "engines",
        List.of(Map.of("url", engine.url().toString())))), client(engine), Deadline.after(LIMIT));
    perform(run, engine, Phase.PAUSE);
    return run;
  }

  private EngineClient client(FleetEngine engine) {
    return new EngineClient(caller, engine.url());
  }

  private Step perform(EngineRun run, FleetEngine engine, Phase phase) {
    run.perform(phase, client(engine), Deadline.after(LIMIT));
    return run.report().steps().getLast();
  }

  /** A way to answer a reset, and what it makes of it. */
  record Odd(String name, OddServer.Answer answer, Result result, boolean mayStillRemove) {
    static Odd of(String name, String answer, Result result, boolean mayStillRemove) {
      return new Odd(name, out -> out.write(answer.getBytes(StandardCharsets.ISO_8859_1)), result, mayStillRemove);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Odd> odd() {
    String success = "{\"success\":true}";
    String ok = "HTTP/1.1 200 OK\r\nContent-Length: " + success.length() + "\r\n\r\n" + success;
    return Stream.of(
        Odd.of("chunks",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"success\r\n7\r\n\":true}\r\n0\r\n\r\n",
            Result.DONE, false),
        Odd.of("to the end of the connection", "HTTP/1.1 200 OK\r\n\r\n" + success, Result.DONE, false),
        Odd.of("hints before the answer", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok, Result.DONE, false),
        Odd.of("more than was announced", ok + "HTTP/1.1 500 No\r\n\r\n", Result.DONE, false),
        Odd.of("an encoding that nobody knows",
            ok.replace("\r\n\r\n", "\r\nContent-Type: text/x; charset=x-none\r\n\r\n"),
            Result.DONE, false),
        Odd.of("hints without end", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000) + ok, Result.NO_ANSWER, true),
        Odd.of("a redirect", "HTTP/1.1 307 There\r\nLocation: /resume\r\nContent-Length: 0\r\n\r\n", Result.ERROR,
            false),
        Odd.of("no content", "HTTP/1.1 204 No Content\r\n\r\n", Result.ERROR, false),
        Odd.of("who are you", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            Result.ERROR, false),
        Odd.of("a gateway", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", Result.ERROR, true),
        Odd.of("a text", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Result.UNPROVEN, true),
        new Odd("compressed", EngineRunTest::compressed, Result.UNPROVEN, true),
        Odd.of("less than was announced", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + success, Result.NO_ANSWER,
            true),
        Odd.of("a chunk that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Result.NO_ANSWER,
            true),
        Odd.of("no HTTP", "\u001b[31mSSH-2.0-x\r\n\r\n", Result.NO_ANSWER, true),
        Odd.of("nothing", "", Result.NO_ANSWER, true),
        new Odd("a body without end", EngineRunTest::endless, Result.NO_ANSWER, true));
  }

  private static void compressed(OutputStream out) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(packed)) {
      zip.write("{\"success\":true}".getBytes(StandardCharsets.US_ASCII));
    }
    out.write(("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + packed.size() + "\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII));
    out.write(packed.toByteArray());
  }

  private static void endless(OutputStream out) throws IOException {
    out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    byte[] more = new byte[1 << 16];
    while (true)
      out.write(more); // until the client hangs up
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("odd")
  @DisplayName("a reset answered so")
  void answers(Odd odd) throws Exception {
    try (FakeEngine engine = FakeEngine.vllm();
        OddServer server = new OddServer(engine.url()).answering(RESET, odd.answer)) {
      EngineRun run = paused(server.standalone());
      Step reset = perform(run, server.standalone(), Phase.RESET);
      assertEquals(odd.result, reset.result(), reset::toString);
      assertEquals(odd.mayStillRemove, run.mayStillRemove(), reset::toString);
      assertEquals(1, server.requests().stream().filter(RESET::equals).count(), "sent once");
      assertFalse(reset.detail().chars().anyMatch(Character::isISOControl), reset.detail());
      assertTrue(run.report().paused(), "what becomes of the reset ends no pause");
    }
  }

  @Test
  @DisplayName("a reset that was not sent, since no time was left, removes nothing later")
  void unsent() {
    try (FakeEngine engine = FakeEngine.vllm()) {
      EngineRun run = paused(engine.standalone());
      run.perform(Phase.RESET, client(engine.standalone()), Deadline.after(Duration.ZERO));
      assertEquals(Result.NO_ANSWER, run.report().steps().getLast().result());
      assertFalse(run.mayStillRemove());
    }
  }

  @Test
  @DisplayName("an engine that has gone is not paused any more, and does not claim to be")
  void gone() {
    EngineRun run;
    FleetEngine address;
    try (FakeEngine engine = FakeEngine.vllm()) {
      address = engine.standalone();
      run = paused(address);
      assertTrue(run.report().paused());
    }
    assertEquals(Result.UNREACHABLE, perform(run, address, Phase.RESET).result());
    assertFalse(run.report().paused() || run.report().mayBePaused());
  }

  @Test
  @DisplayName("numbers in an answer of error are no metrics: an engine is not taken for drained")
  void drained() {
    try (FakeEngine engine = FakeEngine.of("vllm-0.12").answering("GET /metrics", 500,
        "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n")) {
      EngineRun run = paused(engine.standalone());
      Step drain = run.report().steps().getLast();
      assertEquals(Result.NO_ANSWER, drain.result(), drain::toString);
      assertTrue(drain.detail().contains("does not say how many requests"), drain.detail());
    }
  }
}
