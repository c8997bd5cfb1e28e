package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.nativelib.MooncakeInstaller;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands on a real Mooncake; it is installed if it is not there. */
@Tag("mooncake")
class MooncakeTest {
  @TempDir
  Path folder;

  @BeforeAll
  static void install() {
    MooncakeInstaller.install();
  }

  @ParameterizedTest
  @CsvSource({"yes, 1", "no, 2"})
  @DisplayName("S1.9 on a real Mooncake, one process a replica: resets, puts, gets, and no old page served")
  void replays(String epochInKey, int replicas) throws Exception {
    Outcome run = GatunProcess.run("replay", "--store", "mooncake", "--requests", "120", "--page-bytes", "4k",
        "--replicas", Integer.toString(replicas), "--epoch-in-key", epochInKey, "--json").exits(0);
    JsonFields ideal = run.json().object("ideal");
    assertEquals(5, run.number("resets"));
    assertEquals(5, run.json().object("refitOutcomes").number("VERIFIED").longValue());
    assertEquals(ideal.number("removedPages").longValue(), run.number("removedPages"));
    assertEquals(run.number("blocks"), run.number("hits") + run.number("puts"));
    assertEquals(0, run.number("stalePages") + run.number("wrongPages") + run.number("failures"));
    if (replicas == 1) assertEquals(ideal.number("hits").longValue(), run.number("hits"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"drop-removal", "ignore-removal-code", "late-foreign-put"})
  @DisplayName("control on a real Mooncake: the removal broken and no proof: stale pages are served and seen")
  void seesStalePages(String fault) throws Exception {
    Outcome run = GatunProcess.run("replay", "--store", "mooncake", "--requests", "60", "--page-bytes", "4k",
        "--replicas", "1", "--epoch-in-key", "no", "--fault", fault, "--proof", "no", "--json").exits(1);
    assertTrue(run.number("stalePages") > 0, run.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"drop-removal", "late-foreign-put"})
  @DisplayName("control on a real Mooncake: the removal broken: the proof refuses the refit before a page is served")
  void refusesUnprovenRefit(String fault) throws Exception {
    Outcome run = GatunProcess.run("replay", "--store", "mooncake", "--requests", "60", "--page-bytes", "4k",
        "--replicas", "1", "--epoch-in-key", "no", "--fault", fault, "--json").exits(1).says("left the gate closed");
    assertEquals(0, run.number("stalePages"));
  }

  @Test
  @DisplayName("a replica that dies ends the replay, named with its log, and the master with it")
  void noticesDeadReplica() throws Exception {
    try (GatunProcess replay = GatunProcess.start("replay", "--store", "mooncake", "--requests", "100", "--page-bytes",
        "4k", "--speed", "trace", "--json")) {
      ProcessHandle replica = await(replay, "dev.gatun.cli");
      ProcessHandle master = await(replay, "mooncake_master");
      replica.destroyForcibly();
      replay.await().exits(1).says("replica ").says("its log: ");
      master.onExit().get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  @DisplayName("K8 a master that dies ends the replay early, with a report of what was done and why")
  void noticesDeadMaster() throws Exception {
    try (GatunProcess replay = GatunProcess.start("replay", "--store", "mooncake", "--replicas", "1", "--requests",
        "1000", "--page-bytes", "4k", "--speed", "60x", "--refit-every", "0")) {
      ProcessHandle master = await(replay, "mooncake_master");
      replay.awaitErrors("of 1,000 requests");
      master.destroyForcibly();
      Outcome run = replay.await().exits(1).says("the store failed as a whole 5 times in a row").says("ended early");
      assertTrue(run.out().contains("ended early"), run.out());
    }
  }

  @Test
  @DisplayName("K8 mooncake run ends when its master has died, and says so; what it printed stays one JSON object")
  void runEndsWithItsMaster() throws Exception {
    try (GatunProcess run = GatunProcess.start("mooncake", "run", "--segment", "16m", "--rpc-port", "0",
        "--admin-port", "0", "--json")) {
      ProcessHandle.of(run.awaitJson().number("masterPid").longValue()).orElseThrow().destroyForcibly();
      assertEquals(16L << 20, run.await().exits(1).says("gatun: the master ended").number("segmentBytes"));
    }
  }

  @Test
  @DisplayName("mooncake run serves store put, get, ls, stat, rm, reset and refit, and ends with nothing left running")
  void servesStoreCommands() throws Exception {
    byte[] bytes = new byte[3_000_001];
    new Random(7).nextBytes(bytes);
    Path file = Files.write(folder.resolve("value"), bytes);
    try (GatunProcess server = GatunProcess.start("mooncake", "run", "--segment", "64m", "--rpc-port", "0",
        "--admin-port", "0", "--json")) {
      JsonFields addresses = server.awaitJson();
      Client client = new Client(addresses.text("master"), addresses.text("admin"));
      ProcessHandle master = ProcessHandle.of(addresses.number("masterPid").longValue()).orElseThrow();

      // first of all: a put that finds no room makes the master evict
      Path large = Files.write(folder.resolve("large"), new byte[65 << 20]);
      client.run("put", "large", large.toString()).exits(1)
          .says("put of large: 68157440 bytes are more than the largest segment of the store has, 67108864");
      client.run("put", "a/key", file.toString()).exits(0);
      client.run("put", "a/key", file.toString()).exits(1).says("is there already");
      assertEquals(List.of("a/key"), client.run("ls").exits(0).json().texts("keys"));
      assertEquals(bytes.length, client.run("stat").exits(0).number("allocatedBytes"));
      client.run("stat", "a/key").exits(0);
      client.run("stat", "b").exits(1).says("no such key");
      client.run("put", "a b&%2F", file.toString()).exits(0);
      client.run("stat", "a b&%2F").exits(0);
      client.run("rm", "a b&%2F", "--force").exits(0);
      Path copy = folder.resolve("copy");
      client.run("get", "a/key", copy.toString()).exits(0);
      assertEquals(-1, Files.mismatch(file, copy));
      client.run("get", "b", copy.toString()).exits(1).says("no such key: b");
      assertEquals(1, client.run("rm", "a/key", "--force").exits(0).number("removed"));
      assertEquals(0, client.run("rm", "a/key").exits(0).number("removed"));

      client.run("put", "c.d", file.toString()).exits(0);
      assertEquals(1, client.run("rm", "--prefix", "c.").exits(0).number("removed"));
      client.run("put", "e", file.toString()).exits(0);
      client.run("reset").exits(2).says("nobody knows whose these are: keys of unknown form");
      assertEquals(List.of("e"), client.run("ls").json().texts("keys"));
      assertEquals("VERIFIED", client.run("reset", "--force-global").exits(0).json().text("outcome"));
      assertEquals(List.of(), client.run("ls").json().texts("keys"));
      Outcome refit = client.command("refit", "--run", "r", "--version", "3").exits(0);
      assertEquals("VERIFIED", refit.json().text("outcome"));
      client.command("refit", "--run", "r", "--version", "3", "--others", "unfenced").exits(3);
      GatunProcess.run("doctor", "--admin", addresses.text("admin")).exits(0);

      server.handle().destroy();
      server.await();
      master.onExit().get(30, TimeUnit.SECONDS);
      assertFalse(master.isAlive());
    }
  }

  @Test
  @DisplayName("K10 store ls tells whose keys they are; reset removes a part; nor does it or refit remove all of several by oversight")
  void tellsOwnersApart() throws Exception {
    Path file = Files.write(folder.resolve("value"), new byte[100]);
    String hash = "5a".repeat(32);
    String vllm = "tiny-llama@tp_rank:1@pcp0@dcp0@pp_rank:0@group:0@" + hash;
    List<String> keys = List.of(vllm, "t@" + vllm, "Qwen-Qwen3-8B_" + hash + "_0_k", "foreign/app@key1",
        "chat/ppo-7/11/block", "chat/ppo-7/12/block",
        "chat/ppo-7/12/Qwen/Qwen3-8B@main@l36h8d128b16@half@r0of4@" + hash);
    try (GatunProcess server = GatunProcess.start("mooncake", "run", "--segment", "64m", "--rpc-port", "0",
        "--admin-port", "0", "--json")) {
      JsonFields addresses = server.awaitJson();
      Client client = new Client(addresses.text("master"), addresses.text("admin"));
      for (String key : keys)
        client.run("put", key, file.toString()).exits(0);

      JsonFields listed = client.run("ls").exits(0).json();
      assertEquals(7, listed.number("total").intValue());
      assertEquals(List.of("gatun|chat|||ppo-7@11|1", "gatun|chat|||ppo-7@12|1",
          "gatun|chat|Qwen/Qwen3-8B|r0of4|ppo-7@12|1", "other|||||1", "sglang||Qwen-Qwen3-8B|0||1",
          "vllm||tiny-llama|tp1 pp0||1", "vllm|t|tiny-llama|tp1 pp0||1"),
          listed.list("groups").stream()
              .map(group -> String.join("|", ((Map<?, ?>) group).values().stream().map(String::valueOf).toList()))
              .toList());
      String text = GatunProcess.run("store", "ls", "--master", addresses.text("master"), "--admin",
          addresses.text("admin")).exits(0).out();
      assertTrue(text.contains("vllm  prefix t  model tiny-llama  rank tp1 pp0: 1 key\n  t@tiny-llama@"), text);

      client.run("reset").exits(2).says("owners have keys there: gatun chat; keys of unknown form; sglang Qwen-");
      assertEquals(7, client.run("ls").json().number("total").intValue());
      assertEquals("VERIFIED", client.run("reset", "--namespace", "chat", "--run", "ppo-7", "--below", "12").exits(0)
          .json().text("outcome"));
      assertEquals("VERIFIED", client.run("reset", "--prefix", "t@").exits(0).json().text("outcome"));
      Outcome rest = client.run("reset", "--namespace", "chat").exits(0);
      assertEquals(3, rest.number("others"), rest.out());
      assertEquals(3, client.run("ls").json().number("total").intValue());
      client.command("refit", "--run", "r", "--version", "2").exits(2)
          .says("nothing was removed, since 3 owners have keys")
          .says("store reset --namespace NAME");
      assertEquals(3, client.run("ls").json().number("total").intValue());
      client.command("refit", "--run", "r", "--version", "2", "--force-global").exits(0).says("the keys of 3 owners");
      assertEquals(0, client.run("ls").json().number("total").intValue());
      client.run("put", vllm, file.toString()).exits(0);
      client.run("put", "foreign/app@key1", file.toString()).exits(0);
      client.run("reset", "--force-global").exits(0).says("removing the keys of 2 owners");
      client.run("put", vllm, file.toString()).exits(0);
      client.command("refit", "--run", "r", "--version", "3").exits(0);
      assertEquals(0, client.run("ls").json().number("total").intValue());
    }
  }

  /** Commands against one master. */
  private record Client(String master, String admin) {
    Outcome run(String... arguments) throws Exception {
      return command(Stream.concat(Stream.of("store"),
          Stream.of(arguments)).toArray(String[]::new));
    }

    Outcome command(String... arguments) throws Exception {
      return GatunProcess.run(Stream.concat(Stream.of(arguments),
          Stream.of("--master", master, "--admin", admin, "--json")).toArray(String[]::new));
    }
  }

  private static ProcessHandle await(GatunProcess parent, String inCommandLine) {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (System.nanoTime() < giveUpAt) {
      for (ProcessHandle child : parent.handle().descendants().toList()) {
        if (child.info().commandLine().orElse("").contains(inCommandLine)) return child;
      }
      Thread.onSpinWait();
    }
    throw new AssertionError("no process " + inCommandLine);
  }
}
