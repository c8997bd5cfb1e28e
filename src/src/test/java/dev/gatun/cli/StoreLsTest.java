package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code gatun store ls} of a master whose keys anybody may have chosen. */
@Timeout(60)
class StoreLsTest {
  private static final Map<String, String> ANSWERS = Map.of("GET /metrics HTTP/1.1", "master_key_count 2\n",
      "GET /get_all_keys HTTP/1.1", "red\u001b[31m\u0007\nns/run/1/block\n");

  private ServerSocket server;

  @BeforeEach
  void start() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("master").start(this::serve);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        BufferedReader lines = new BufferedReader(
            new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
        String body = ANSWERS.getOrDefault(String.valueOf(lines.readLine()), "");
        for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
          // headers say nothing that matters
        }
        client.getOutputStream().write(("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + body.length()
            + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1));
      } catch (IOException hungUp) {
        // the client has had enough, or the test ends
      }
    }
  }

  private Captured ls(String... more) {
    Captured run = store("ls", more);
    assertEquals(0, run.code(), run.err());
    return run;
  }

  private Captured store(String command, String... more) {
    String[] line = {"store", command, "--master", "127.0.0.1:1", "--admin",
        "http://127.0.0.1:" + server.getLocalPort()};
    String[] all = Arrays.copyOf(line, line.length + more.length);
    System.arraycopy(more, 0, all, line.length, more.length);
    return Captured.run(all);
  }

  @Test
  @DisplayName("K10 what a terminal would obey in a key is shown by its number; as JSON and flat keys are exact")
  void controlCharacters() {
    String text = ls().out();
    assertTrue(text.contains("  red\\u001b[31m\\u0007" + System.lineSeparator()), text);
    assertTrue(text.contains("gatun  namespace ns  epoch run@1: 1 key"), text);
    assertFalse(text.chars().anyMatch(c -> Character.isISOControl(c) && c != '\n'), text);
    assertEquals(List.of("red\u001b[31m\u0007", "ns/run/1/block"),
        new JsonFields(Json.parse(ls("--json").out())).texts("keys"));
    assertTrue(ls("--flat").out().lines().anyMatch("red\u001b[31m\u0007"::equals), "flat");
  }

  @Test
  @DisplayName("K10 a key that is named on the command line is shown so too, in answers and in errors")
  void controlCharactersOfArguments() {
    Captured found = store("stat", "red\u001b[31m\u0007");
    assertEquals(0, found.code(), found.err());
    assertTrue(found.out().contains("red\\u001b[31m\\u0007"), found.out());
    Captured missing = store("stat", "blue\u001b[34m\u009b");
    assertEquals(1, missing.code());
    assertTrue(missing.err().contains("no such key: blue\\u001b[34m\\u009b"), missing.err());
    assertFalse(
        (found.out() + missing.err()).chars().anyMatch(c -> Character.isISOControl(c) && c != '\n'),
        found.out() + missing.err());
  }
}
