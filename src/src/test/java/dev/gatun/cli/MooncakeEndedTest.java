package dev.gatun.cli;

import static dev.gatun.cli.EndedFromOutsideTest.awaitFile;
import static dev.gatun.cli.EndedFromOutsideTest.files;
import static dev.gatun.cli.EndedFromOutsideTest.properties;
import static dev.gatun.cli.EndedFromOutsideTest.signal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.MooncakeMaster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands on a real Mooncake that are told to end by a signal. */
@Tag("mooncake")
class MooncakeEndedTest {
  @TempDir
  Path temporary;

  @BeforeAll
  static void install() {
    MooncakeInstaller.install();
  }

  @ParameterizedTest
  @CsvSource({"gatun-replay-, TERM, 143", "master.log, TERM, 143", "replica-0.log, TERM, 143", "requests, TERM, 143",
      "requests, INT, 130", "requests, HUP, 129"})
  @DisplayName("a signal ends a replay on a real Mooncake at any point: no process and no temporary file stays")
  void replay(String point, String signal, int code) throws Exception {
    try (GatunProcess replay = GatunProcess.start(properties(temporary), "replay", "--store", "mooncake", "--speed",
        "trace", "--page-bytes", "4k")) {
      if (point.equals("requests")) replay.awaitErrors("of 1,000 requests");
      else
        awaitFile(replay, temporary, point);
      endsCleanly(replay, signal, code);
    }
  }

  @ParameterizedTest
  @CsvSource({"mooncake-master-, TERM, 143", "gatun-, TERM, 143", "serving, TERM, 143", "serving, INT, 130",
      "serving, HUP, 129"})
  @DisplayName("a signal ends mooncake run at any point: no process and no temporary file stays")
  void run(String point, String signal, int code) throws Exception {
    try (GatunProcess server = GatunProcess.start(properties(temporary), "mooncake", "run", "--segment", "64m",
        "--rpc-port", "0", "--admin-port", "0", "--json")) {
      if (point.equals("serving")) server.awaitJson();
      else
        awaitFile(server, temporary, point);
      endsCleanly(server, signal, code);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"store put key FILE", "store get key FILE", "store rm key", "store rm --prefix key",
      "store reset", "refit --run r --version 2"})
  @DisplayName("a signal ends a command whose master has stopped answering: no temporary file stays")
  void command(String command) throws Exception {
    Path file = Files.writeString(temporary.resolve("value"), "value");
    Path folder = Files.createDirectory(temporary.resolve("tmp"));
    try (MooncakeMaster master = MooncakeMaster.start(MooncakeInstaller.install())) {
      master.freeze();
      String[] arguments = (command.replace("FILE", file.toString()) + " --master " + master.rpcAddress() + " --admin "
          + master.adminUrl()).split(" ");
      try (GatunProcess started = GatunProcess.start(properties(folder), arguments)) {
        awaitFile(started, folder, "gatun-");
        signal(started, "TERM");
        started.await().exits(143);
        assertEquals(List.of(), files(folder));
      } finally {
        master.thaw();
      }
    }
  }

  private void endsCleanly(GatunProcess process, String signal, int code) throws Exception {
    List<ProcessHandle> children = process.handle().descendants().toList();
    signal(process, signal);
    GatunProcess.Outcome outcome = process.await().exits(code);
    assertTrue(!outcome.err().contains("gatun: "), outcome.err());
    assertEquals(List.of(), files(temporary));
    // a master that was being started is ended by its watcher, right after
    for (ProcessHandle child : children)
      child.onExit().get(10, TimeUnit.SECONDS);
  }
}
