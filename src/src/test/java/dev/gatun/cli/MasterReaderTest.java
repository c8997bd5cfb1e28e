package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.console.CommandException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Something else than a Mooncake master at the address that was given. */
@Timeout(120)
class MasterReaderTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nConnection: close\r\n";

  private ServerSocket server;
  private volatile String answer = "";
  private volatile boolean endless;

  @BeforeEach
  void start() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("stranger").start(this::serve);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        client.getInputStream().read(new byte[4096]);
        OutputStream out = client.getOutputStream();
        do {
          out.write(answer.getBytes(StandardCharsets.ISO_8859_1));
          out.flush();
          LockSupport.parkNanos(1_000_000); // slowly, so that no limit of size ends it
        } while (endless);
      } catch (IOException hungUp) {
        // the client has had enough, or the test ends
      }
    }
  }

  private String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "", "[1]", "<html></html>", "\0\1"})
  @DisplayName("whatever else answers is no master, and its words are no keys: exit code 4, naming the address")
  void noObject(String body) throws Exception {
    answer = OK + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    for (String command : List.of("ls", "stat")) {
      GatunProcess.run("store", command, "--master", "127.0.0.1:1", "--admin", url()).exits(4)
          .says("no Mooncake master answers at " + url());
    }
    GatunProcess.run("store", "stat", "k", "--master", "127.0.0.1:1", "--admin", url()).exits(4)
        .says("no Mooncake master answers at " + url());
    assertTrue(GatunProcess.run("doctor", "--json", "--admin", url()).exits(4).out().contains("no Mooncake master"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"garbage\r\n\r\n", OK + "Content-Length: 9\r\n\r\nshort",
      OK + "Transfer-Encoding: chunked\r\n\r\nZZ\r\n"})
  @DisplayName("an answer that is no HTTP is no answer: exit code 4")
  void noHttp(String bytes) {
    answer = bytes;
    assertEquals(4, assertThrows(CommandException.class, () -> new MasterReader(URI.create(url())).keys()).exitCode());
  }

  @Test
  @DisplayName("an answer without an end is given up")
  void endlessAnswer() {
    answer = OK + "\r\n";
    endless = true;
    CommandException refusal = assertThrows(CommandException.class,
        () -> new MasterReader(URI.create(url()), Duration.ofMillis(300)).keys());
    assertTrue(String.valueOf(refusal.getMessage()).contains("did not answer " + url() + "/metrics within "),
        refusal.getMessage());
  }
}
