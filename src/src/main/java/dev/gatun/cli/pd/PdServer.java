package dev.gatun.cli.pd;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Failure;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.device.DeviceException;
import dev.gatun.transfer.device.PeerRefusedException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The child's side of {@link PdProtocol}: one host, driven by the lines of a parent process. Ends the process when the
 * parent's end of the pipe closes, so that no child outlives its parent.
 */
public final class PdServer {
  private static final int LOGGED_EVERY = 100;

  private final PrintStream out;
  private final BlockingQueue<String> commands = new LinkedBlockingQueue<>();
  private final PdOpening opening = new PdOpening();
  private @Nullable PdWorker host;
  private long prompts;

  private PdServer(PrintStream out) {
    this.out = out;
  }

  /**
   * Serves until told to close.
   *
   * @param in the parent's commands
   * @param out where answers go
   * @throws InterruptedException if interrupted
   */
  public static void serve(BufferedReader in, PrintStream out) throws InterruptedException {
    PdServer server = new PdServer(out);
    Thread.ofPlatform().daemon().name("commands").start(() -> server.read(in));
    server.run();
  }

  private void read(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine())
        commands.add(line);
    } catch (IOException broken) {
      // the same as an end: the parent is gone
    }
    System.exit(ExitCode.FAILED);
  }

  private void run() throws InterruptedException {
    while (true) {
      String[] words = commands.take().split(" ", 2);
      try {
        send(Map.of(PdProtocol.ANSWER, obey(words[0], new JsonFields(Json.parse(words[1])))));
      } catch (RuntimeException failure) {
        failure.printStackTrace();
        send(Map.of(PdProtocol.ERROR, Failure.message(failure), PdProtocol.EXIT_CODE, Failure.exitCode(failure)));
      }
      if (words[0].equals(PdProtocol.CLOSE)) return;
    }
  }

  private Map<String, Object> obey(String command, JsonFields argument) {
    if (command.equals(PdProtocol.OPEN) && argument.has("device")) return opening.device(argument);
    if (command.equals(PdProtocol.TRY_NIXL)) return opening.tryNixl();
    if (command.equals(PdProtocol.OPEN) || command.equals(PdProtocol.CONNECT)) return connect(command, argument);
    PdWorker driven = host;
    if (command.equals(PdProtocol.CLOSE)) {
      if (driven != null) driven.close();
      opening.close();
      return Map.of();
    }
    // the other side may end before this one has any
    if (driven == null && command.equals(PdProtocol.BLOCKS)) return Map.of("blocks", 0, "free", 0, "quarantined", 0);
    if (driven == null) throw new IllegalStateException("not open: " + command);
    return switch (command) {
      case PdProtocol.PREFILL -> logged(command, driven.prefill(prompt(argument), argument.text("transferId")));
      case PdProtocol.DECODE -> logged(command, driven.decode(prompt(argument), params(argument)));
      case PdProtocol.BLOCKS -> driven.blocks();
      case PdProtocol.REFIT -> {
        driven.refit(argument.number("version").longValue());
        yield Map.of();
      }
      default -> throw new IllegalStateException("unknown command " + command);
    };
  }

  private Map<String, Object> connect(String command, JsonFields argument) {
    PdWorker before = host;
    if (before != null) before.close(); // by another path, which the other side could not take
    host = null;
    try {
      PdWorker opened = command.equals(PdProtocol.OPEN) ? opening.host(argument) : opening.connect(argument);
      host = opened;
      return opened.identity();
    } catch (PeerRefusedException | DeviceException refused) {
      if (command.equals(PdProtocol.OPEN)) throw refused;
      return Map.of("refused", String.valueOf(refused.getMessage()));
    }
  }

  /** Leaves a line in the log: how far this side came. */
  private Map<String, Object> logged(String command, Map<String, Object> done) {
    if (prompts++ % LOGGED_EVERY == 0) System.err.println(command + ": " + prompts + " prompts");
    return done;
  }

  private static PromptPages prompt(JsonFields argument) {
    return new PromptPages(argument.number("prompt").intValue(), argument.number("pages").intValue());
  }

  private static Map<String, Object> params(JsonFields argument) {
    Map<String, Object> params = new LinkedHashMap<>();
    argument.object("params").map().forEach((name, value) -> params.put(String.valueOf(name), value));
    return params;
  }

  private void send(Map<String, ?> object) {
    out.println(Json.line(object));
    out.flush();
  }
}
