package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"replay --page-bytes 8 | --page-bytes must be 32 to",
      "replay --page-bytes x | --page-bytes must be bytes or a number with k, m, g or t",
      "replay --page-bytes 4k --model qwen3-32b | not both", "replay --model gpt-5 | --model must be one of qwen2.5-7b",
      "replay --replicas 0 | --replicas must be 1 to 64", "replay --refit-every -1 | --refit-every must be 0",
      "replay --store redis | --store must be loopback or mooncake",
      "replay --speed fast | --speed must be flat, trace",
      "replay --epoch-in-key maybe | --epoch-in-key must be true, yes, on",
      "replay --fault x | --fault must be one of none",
      "replay --capacity 1m | --capacity must be at least 16 MiB for each of 2 replicas",
      "replay --capacity 32m --page-bytes 17m | less than a page", "replay --requests 0 | requests must be 1 or more",
      "replay --block-tokens 0 --model qwen3-32b | --block-tokens must be", "replay --frobnicate | Unknown option",
      "replay --trace /nowhere/t.jsonl | no such file",
      "replay --trace /dev/null --store mooncake | --trace must be a regular file with --store mooncake",
      "replay --verify some | --verify", "nonsense | nonsense",
      "store ls --store loopback | lives inside one process", "store reset --store loopback | lives inside one process",
      "store put k f --store redis | --store must be mooncake", "store ls | --master HOST:PORT is missing",
      "store rm --master 127.0.0.1:1 | give either KEY or --prefix", "store | a command is missing",
      "store rm --prefix= --master 127.0.0.1:1 | --prefix must not be empty",
      "replay --refit-every 1 | --refit-every must give at most 100000 refits: 1 gives 35",
      "store put k\uFFFD f --master 127.0.0.1:1 | KEY must be text in the encoding of the locale",
      "store get k\uFFFD f --master 127.0.0.1:1 | KEY must be text",
      "store rm \uFFFD --master 127.0.0.1:1 | KEY must be text",
      "store rm --prefix \uFFFD --master 127.0.0.1:1 | --prefix must be text",
      "store ls --prefix \uFFFD --master 127.0.0.1:1 | --prefix must be text",
      "store stat \uFFFD --master 127.0.0.1:1 | KEY must be text",
      "doctor --admin ftp://127.0.0.1:1 | masterAdmin must be host:port or http(s)",
      "store ls --limit 0 --master 127.0.0.1:1 | --limit must be 1 or more",
      "store reset --namespace a --below 2 --master 127.0.0.1:1 | give --run NAME and --below VERSION together",
      "store reset --run r --below 2 --master 127.0.0.1:1 | --below needs --namespace NAME",
      "store reset --namespace a --prefix b --master 127.0.0.1:1 | give --namespace or --prefix, not both",
      "store reset --namespace a --force-global --master 127.0.0.1:1 | --force-global is for a reset of everything",
      "store put k /nowhere/f --master 127.0.0.1:1 | cannot read /nowhere/f",
      "store get k - --json --master 127.0.0.1:1 | cannot both go to standard output",
      "mooncake | a command is missing",
      "refit --master 127.0.0.1:1 | --run",
      "refit --run r --version 0 --master 127.0.0.1:1 | --version must be 1 or more",
      "refit --run r --version 1 --others some --master 127.0.0.1:1 | --others must be one of none, fenced, unfenced",
      "refit --run r/s --version 1 --master 127.0.0.1:1 | run must be 1 to 64",
      "refit --run r --version 1 --on-failure disable-store --master 127.0.0.1:1 | hosts in a JVM",
      "bundle | --output", "bundle --output b.zip | --output must end in .tar.xz: b.zip",
      "bundle --output b.tar.xz --target linux-arm64 | --target must be one of linux-x86_64, linux-aarch64: linux-arm64",
      "bundle --output /nowhere/b.tar.xz | --output must be in a folder that can be written to"})
  @DisplayName("bad options are refused with option, value and what is allowed, exit code 2, no stack trace")
  void refuses(String arguments, String expected) {
    Captured run = Captured.run(arguments.split(" "));
    assertEquals(2, run.code(), run.err());
    assertTrue(run.err().startsWith("gatun: ") && run.err().contains(expected), run.err());
    assertTrue(!run.err().contains("\tat "), run.err());
  }

  @Test
  @DisplayName("a key that begins with @ is that key, not a file of arguments")
  void takesAtSignsAsTheyAre() {
    assertTrue(
        Captured.run("store", "get", "@@k\uFFFD", "f", "--master", "127.0.0.1:1").err().contains("\"@@k\uFFFD\""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"two\nlines", "two\rlines"})
  @DisplayName("a key with a line end cannot be told from two in the master's list: refused, not called absent")
  void refusesLineEnds(String key) {
    for (String[] arguments : new String[][]{{"store", "stat", key}, {"store", "ls", "--prefix", key}}) {
      Captured run = Captured.run(arguments);
      assertEquals(2, run.code(), run.err());
      assertTrue(run.err().contains("must not hold a line end"), run.err());
    }
  }

  @Test
  @DisplayName("--json=true is --json, also where the command fails; after -- it is a key")
  void answersJsonWhenItFails() {
    Captured given = Captured.run("store", "ls", "--store", "loopback", "--json=true");
    assertEquals(2, Json.parse(given.out()).get("exitCode"));
    assertEquals("", Captured.run("store", "ls", "--store", "loopback", "--json=false").out());
    Captured key = Captured.run("store", "put", "--master", "127.0.0.1:1", "--", "--json", "/nowhere/f");
    assertTrue(key.err().contains("cannot read /nowhere/f"), key.err());
    assertEquals("", key.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"store ls --master 127.0.0.1:1", "store stat --master 127.0.0.1:1",
      "store get k f --master 127.0.0.1:1", "refit --run r --version 1 --master 127.0.0.1:1"})
  @DisplayName("a master that does not answer is exit code 4 and named")
  void namesUnreachableMaster(String arguments) throws Exception {
    GatunProcess.run(arguments.split(" ")).exits(4).says("127.0.0.1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "replay", "pd", "mooncake", "mooncake install", "mooncake run", "nixl", "nixl install",
      "store",
      "store put",
      "store get",
      "store ls", "store stat", "store rm", "store reset", "refit", "doctor", "bundle"})
  @DisplayName("every command has help that names its options")
  void helps(String command) {
    Captured run = Captured.run((command + " --help").strip().split(" "));
    assertEquals(0, run.code());
    assertTrue(run.out().startsWith(("Usage: gatun " + command).strip()), run.out());
    assertTrue(run.out().contains("--help"), run.out());
  }

  @Test
  @DisplayName("--debug adds the stack trace")
  void debugs() {
    assertTrue(Captured.run("replay", "--page-bytes", "8", "--debug").err().contains("\tat "));
  }

  @Test
  @DisplayName("--version names library and ABI; nothing is printed on standard error, so the JVM had nothing to warn of")
  void printsVersion() throws Exception {
    Outcome run = GatunProcess.run("--version", "--json").exits(0);
    assertEquals("", run.err());
    assertTrue(run.json().text("nativeLibrary").endsWith("libgatun_loopback.so"), run.out());
    assertTrue(run.json().text("abi").contains("19"), run.out());
    assertTrue(run.json().text("java").contains("25"), run.out());
  }

  @Test
  @DisplayName("doctor finds the embedded library, and says how to get what is missing")
  void examines() throws Exception {
    Outcome run = GatunProcess.run("doctor", "--json").exits(0);
    assertTrue(run.json().flag("healthy"));
    for (String what : new String[]{"embedded library", "Mooncake libraries", "NIXL library", "memlock", "huge pages",
        "NUMA",
        "RDMA devices", "GPU driver"}) {
      assertTrue(run.out().contains('"' + what + '"'), what + " in " + run.out());
    }
    GatunProcess.run("doctor", "--master", "127.0.0.1:1").exits(4);
  }

  @Test
  @DisplayName("doctor and --version say which library a setting names in place of an installed one, and that it is none")
  void examinesNamedLibrary(@TempDir Path folder) throws Exception {
    Path text = Files.writeString(folder.resolve("libnixl_capi.so"), "no library, and longer than a header ".repeat(4));
    List<String> named = List.of("-Dgatun.nixl.library=" + text);
    for (String command : List.of("doctor", "--version")) {
      String said = GatunProcess.run(named, command).out();
      assertTrue(said.contains("system property gatun.nixl.library names a file that is no shared library for"), said);
    }
    Path other = Files.copy(Path.of(GatunProcess.run("--version", "--json").json().text("nativeLibrary")),
        folder.resolve("libother.so"));
    String said = GatunProcess.run(List.of("-Dgatun.nixl.library=" + other), "--version").out();
    assertTrue(said.contains(other + " (from system property gatun.nixl.library)"), said);
  }

  @Test
  @DisplayName("doctor and --version say that the cache directory cannot be used, beside everything else")
  void examinesWithoutCache() throws Exception {
    List<String> unusable = List.of("-Dgatun.cache.dir=/proc/nowhere");
    String found = GatunProcess.run(unusable, "doctor", "--json").out();
    for (String what : List.of("\"Mooncake master\"", "cache directory cannot be used", "\"RDMA devices\"",
        "\"healthy\"")) {
      assertTrue(found.contains(what), what + " in " + found);
    }
    assertTrue(
        GatunProcess.run(unusable, "--version", "--json").exits(0).json().text("mooncake").startsWith("missing"));
  }

  @Test
  @DisplayName("output that cannot be written, as on a full disk, is exit code 1 and said")
  void lostOutput() {
    PrintStream out = System.out;
    System.setOut(new PrintStream(new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        throw new IOException("No space left on device");
      }
    }, true, StandardCharsets.UTF_8));
    try {
      assertEquals(1, Gatun.execute("--help"));
    } finally {
      System.setOut(out);
    }
  }

  @Test
  @DisplayName("a heap that is too small is said in one line, with what to do")
  void outOfMemory() throws Exception {
    Outcome run = GatunProcess.run(List.of("-Xmx24m"), "replay", "--requests", "5000000").exits(1)
        .says("gatun: out of memory").says("GATUN_JAVA_OPTIONS");
    assertTrue(!run.err().contains("\tat "), run.err());
  }

  @Test
  @DisplayName("no room for temporary files is exit code 4, with what to do")
  void noTemporaryFiles() throws Exception {
    GatunProcess.run(List.of("-Djava.io.tmpdir=/nowhere"), "replay", "--requests", "1").exits(4)
        .says("no temporary file for native logs: /nowhere").says("--native-log");
  }
}
