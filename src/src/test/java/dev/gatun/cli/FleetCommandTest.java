package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.nativelib.MooncakeInstaller;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code gatun refit --fleet} as a trainer's script calls it. */
@Timeout(300)
class FleetCommandTest {
  private static final List<String> ORDERS = List.of("POST /pause?mode=abort&clear_cache=false",
      "POST /reset_prefix_cache?reset_external=true", "POST /resume");

  @TempDir
  Path folder;
  private PlainEngine engine;

  @BeforeEach
  void start() throws IOException {
    engine = new PlainEngine();
  }

  @AfterEach
  void stop() throws IOException {
    engine.close();
  }

  private Path file(String master, String admin) throws IOException {
    return Files.writeString(folder.resolve("fleet.yaml"), "run: r\nmaster: " + master + "\nadmin: " + admin
        + "\ndeadline: 20s\nengines:\n  - url: " + engine.url() + '\n');
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"--on-failure disable-store | on_failure must be fail or retry",
      "--pause keep | pause must be abort or wait", "--engine h:1 | engines[0].url must be http://host:port",
      "--weight-version 0 | weight_version must be a whole number from 1", "--weight-version x | --weight-version",
      "--store loopback | store must be mooncake", "--others none | --others is decided by the engines",
      "--force-global | --force-global is for a store without a fleet",
      "--deadline 0 | deadline must be 1 s to 1 h", "--frobnicate | Unknown option", "--kind sglang | for --engine",
      "--fleet /nowhere/f.yaml | cannot read /nowhere/f.yaml", "--config f.json --master 127.0.0.1:1 | config must",
      "--native-log /nowhere/f.log | native log cannot be created: /nowhere/f.log"})
  @DisplayName("bad values are refused with 1, since 2 would say that a fleet is not verified, before anything is sent")
  void refuses(String arguments, String expected) throws Exception {
    String[] own = {"refit", "--fleet", file("127.0.0.1:1", "http://127.0.0.1:1").toString(), "--weight-version", "2"};
    List<String> line = new ArrayList<>(List.of(own));
    List<String> more = List.of(arguments.split(" "));
    if (more.contains("--weight-version")) line.subList(3, 5).clear();
    if (more.contains("--fleet")) line.subList(1, 3).clear();
    line.addAll(more);
    Captured run = Captured.run(line.toArray(String[]::new));
    assertEquals(1, run.code(), run.err());
    assertTrue(run.err().contains(expected), run.err());
    assertEquals(List.of(), engine.posts());
  }

  @Test
  @DisplayName("options of a fleet without one are wrong usage")
  void needsEngines() {
    Captured run = Captured.run("refit", "--run", "r", "--version", "1", "--dry-run", "--master", "127.0.0.1:1");
    assertEquals(2, run.code(), run.err());
    assertTrue(run.err().contains("--dry-run is for a fleet: give --fleet FILE or --engine URL"), run.err());
  }

  @Test
  @DisplayName("a dry run prints the steps, sends none, and ends with 0; so does another node than the first")
  void plans() throws Exception {
    Outcome run = GatunProcess.run("refit", "--engine", engine.url(), "--run", "r", "--weight-version", "2", "--master",
        "127.0.0.1:1", "--dry-run", "--json").exits(0);
    assertEquals("PLANNED", run.json().text("outcome"));
    for (String order : ORDERS)
      assertTrue(run.out().contains('"' + order + '"'), run.out());
    assertEquals(List.of(), engine.posts());
    assertEquals("FAILED", GatunProcess.run("refit", "--engine", "http://127.0.0.1:1", "--run", "r",
        "--weight-version", "2", "--master", "127.0.0.1:1", "--dry-run", "--json").exits(1).json().text("outcome"),
        "nobody was there to be asked");
    assertEquals("SKIPPED", GatunProcess.run("refit", "--engine", engine.url(), "--run", "r", "--weight-version", "2",
        "--master", "127.0.0.1:1", "--node-rank", "1", "--json").exits(0).json().text("outcome"));
  }

  @Test
  @DisplayName("a router is refused with 1, named with the engines behind it")
  void refusesRouter() throws Exception {
    engine.routing();
    Outcome run = GatunProcess.run("refit", "--engine", engine.url(), "--run", "r", "--weight-version", "2", "--master",
        "127.0.0.1:1").exits(1);
    assertTrue(run.out().contains("REFUSED") && run.out().contains("is a router of 1 workers"), run.out());
    assertEquals(List.of(), engine.posts());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  @Tag("mooncake")
  @DisplayName("a signal while an engine hangs in its pause or its reset: the report names those paused, or maybe paused")
  void signalled(int hangsAt) throws Exception {
    MooncakeInstaller.install();
    List<String> sent = ORDERS.subList(0, hangsAt + 1);
    try (PlainEngine hanging = new PlainEngine().hangingAt(ORDERS.get(hangsAt));
        GatunProcess refit = GatunProcess.start("refit", "--engine", engine.url(), "--engine", hanging.url(), "--run",
            "r", "--weight-version", "2", "--master", "127.0.0.1:1", "--deadline", "600", "--json")) {
      awaitPosts(engine, sent.size());
      awaitPosts(hanging, sent.size());
      refit.handle().destroy();
      Outcome ended = refit.await().exits(143);
      assertEquals("FAILED", ended.json().text("outcome"), ended.err());
      List<String> paused = ended.json().texts("paused");
      List<String> mayBePaused = ended.json().texts("mayBePaused");
      // the answer to an order that came may not have been read yet; that to the order before it was
      assertEquals(Set.of(engine.url(), hanging.url()),
          Stream.concat(paused.stream(), mayBePaused.stream()).collect(Collectors.toSet()));
      assertEquals(hangsAt > 0, paused.contains(hanging.url()), ended.out());
      if (hangsAt > 0) assertEquals(List.of(), mayBePaused);
      assertTrue(ended.json().texts("reasons").getFirst().startsWith("broken off"), ended.out());
      assertEquals(sent, engine.posts(), "nothing is sent any more");
    }
  }

  private static void awaitPosts(PlainEngine engine, int orders) {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (engine.posts().size() < orders) {
      assertTrue(System.nanoTime() < giveUpAt, "no order came");
      Thread.onSpinWait();
    }
  }

  @Test
  @Tag("mooncake")
  @DisplayName("on a real Mooncake: 0 and empty; the master killed: 2, the engine's success contradicted, paused")
  void refits() throws Exception {
    MooncakeInstaller.install();
    Path value = Files.write(folder.resolve("value"), new byte[4096]);
    try (GatunProcess server = GatunProcess.start("mooncake", "run", "--segment", "64m", "--rpc-port", "0",
        "--admin-port", "0", "--json")) {
      JsonFields addresses = server.awaitJson();
      String master = addresses.text("master");
      String admin = addresses.text("admin");
      GatunProcess.run("store", "put", "old@page", value.toString(), "--master", master, "--admin", admin).exits(0);
      String fleet = file(master, admin).toString();

      Outcome done = GatunProcess.run("refit", "--fleet", fleet, "--weight-version", "2", "--json").exits(0);
      assertEquals("VERIFIED", done.json().text("outcome"), done.out());
      assertEquals(ORDERS, engine.posts());
      GatunProcess.run("store", "stat", "old@page", "--master", master, "--admin", admin).exits(1);

      ProcessHandle process = ProcessHandle.of(addresses.number("masterPid").longValue()).orElseThrow();
      process.destroyForcibly();
      process.onExit().get(30, TimeUnit.SECONDS);
      Outcome killed = GatunProcess.run("refit", "--fleet", fleet, "--weight-version", "3", "--json").exits(2);
      assertEquals("UNVERIFIED", killed.json().text("outcome"), killed.out());
      assertEquals(List.of(engine.url()), killed.json().texts("paused"));
      assertTrue(killed.out().contains("it reported success, but the store does not answer"), killed.out());
    }
  }
}
