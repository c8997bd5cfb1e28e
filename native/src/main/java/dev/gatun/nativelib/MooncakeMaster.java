package dev.gatun.nativelib;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A master process of our own. It ends with this process, however this one ends: a small watcher beside it waits on a
 * pipe that the kernel closes when this process is gone, {@code SIGKILL} included. It outlives the shutdown hooks, so
 * stores can be destroyed in them. A Ctrl-C in the terminal does not reach it.
 *
 * <p>Any thread.
 */
public final class MooncakeMaster implements AutoCloseable {
  // $0 and $@ are the master and its flags; exec keeps the process id, so $$ is the master's. The name is compared
  // because the id may belong to another process by the time the pipe closes; it is sh until the exec.
  private static final String WATCHED = "trap '' INT; exec 3<&0; (exec >/dev/null 2>&1; read end <&3; "
      + "while read name </proc/$$/comm && [ \"$name\" = sh ]; do sleep 0.1; done; "
      + "[ \"$name\" = mooncake_master ] && kill -KILL $$) & "
      + "exec \"$0\" \"$@\" </dev/null 3<&-";
  private static final int PORT_ATTEMPTS = 5; // unmeasured default; each loses a race against another process
  private static final Duration STOP_LIMIT = Duration.ofSeconds(3); // unmeasured default, then SIGKILL
  private static final Duration POLL = Duration.ofMillis(20); // a tenth of the 0.2 s that a start takes
  private static final int HTTP_LIMIT_MILLIS = 2000; // unmeasured default; it answers within 2 ms

  private final MooncakeRuntime runtime;
  private final MasterOptions options;
  private final MasterPorts ports;
  private final Path log;
  private Process process;

  private MooncakeMaster(MooncakeRuntime runtime, MasterOptions options, MasterPorts ports, Path log, Process process) {
    this.runtime = runtime;
    this.options = options;
    this.ports = ports;
    this.log = log;
    this.process = process;
  }

  /**
   * Starts a master with {@link MasterOptions#DEFAULT} and waits until it serves.
   *
   * @param runtime installed files
   * @return the running master
   * @throws LibraryUnavailableException if it does not start; the message ends with the last lines of its log
   */
  public static MooncakeMaster start(MooncakeRuntime runtime) {
    return start(runtime, MasterOptions.DEFAULT);
  }

  /**
   * Starts a master and waits until its admin interface says that it serves. Blocks until then, at most for
   * {@link MasterOptions#startLimit()}.
   *
   * @param runtime installed files
   * @param options ports, flags, log
   * @return the running master
   * @throws IllegalArgumentException if the host is no address of this machine
   * @throws LibraryUnavailableException if it does not start, naming a port that is taken; the message ends with the
   *         last lines of its log
   */
  public static MooncakeMaster start(MooncakeRuntime runtime, MasterOptions options) {
    for (int attempt = 1; attempt <= PORT_ATTEMPTS; attempt++) {
      MooncakeMaster master = attempt(runtime, options);
      if (master.awaitServing()) return master;
    }
    throw new LibraryUnavailableException("lost the race for free ports " + PORT_ATTEMPTS + " times", List.of(),
        "choose ports for the master");
  }

  private static MooncakeMaster attempt(MooncakeRuntime runtime, MasterOptions options) {
    try {
      MasterPorts ports = MasterPorts.choose(options);
      Path log = options.log() == null ? Leftovers.temporaryFile("mooncake-master-", ".log") : options.log();
      return new MooncakeMaster(runtime, options, ports, log, launch(runtime, options, ports, log));
    } catch (IOException e) {
      throw new LibraryUnavailableException("the master cannot be started: " + e, List.of(),
          "check " + runtime.masterProgram() + " and the log file's directory", e);
    }
  }

  private static Process launch(MooncakeRuntime runtime, MasterOptions options, MasterPorts ports, Path log)
      throws IOException {
    List<String> program = new ArrayList<>(List.of("/bin/sh", "-c", WATCHED, runtime.masterProgram().toString()));
    program.add("--rpc_address=" + options.host());
    program.add("--rpc_port=" + ports.rpc());
    program.add("--metrics_host=" + options.host());
    program.add("--metrics_port=" + ports.admin());
    program.add("--logtostderr=true");
    options.flags().forEach((name, value) -> program.add("--" + name + "=" + value));
    return new ProcessBuilder(program).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
  }

  /** False when it ended because another process was faster to take a port that was free when chosen. */
  private boolean awaitServing() {
    long giveUpAt = System.nanoTime() + options.startLimit().toNanos();
    while (!isServing()) {
      boolean ended = hasEnded();
      if (!ended && System.nanoTime() < giveUpAt) continue;
      boolean lostPort = ended && !ports.taken(options.host()).isEmpty();
      String tail = logTail();
      close();
      if (lostPort) return false;
      throw new LibraryUnavailableException(
          (ended ? "the master ended at start" : "the master did not serve within " + options.startLimit()) + "\n"
              + tail,
          List.of(), "see the log above");
    }
    return true;
  }

  private String logTail() {
    try {
      return Command.tail(Files.readString(log, StandardCharsets.ISO_8859_1), 15);
    } catch (IOException e) {
      return "its log cannot be read: " + e;
    }
  }

  private boolean hasEnded() {
    try {
      return process.waitFor(POLL.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new IllegalStateException("interrupted while the master was starting", e);
    }
  }

  // The admin interface says ready before the port for stores is bound, and also when it cannot be bound.
  private boolean isServing() {
    try {
      return process.isAlive() && saysReady() && ListeningSockets.hasPort(process.pid(), ports.rpc());
    } catch (IOException e) {
      return false; // not listening yet, or gone
    }
  }

  private boolean saysReady() throws IOException {
    var health = (HttpURLConnection) adminUrl().resolve("/health").toURL().openConnection(Proxy.NO_PROXY);
    health.setConnectTimeout(HTTP_LIMIT_MILLIS);
    health.setReadTimeout(HTTP_LIMIT_MILLIS);
    try (var body = health.getInputStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8).contains("\"service_ready\":true");
    } finally {
      health.disconnect();
    }
  }

  /** {@return host and port for stores, as store options take it} */
  public String rpcAddress() {
    return hostInAddress() + ":" + ports.rpc();
  }

  /** {@return base of the admin interface: {@code /metrics}, {@code /get_all_keys}, ...} */
  public URI adminUrl() {
    return URI.create("http://" + hostInAddress() + ":" + ports.admin());
  }

  private String hostInAddress() {
    return options.host().contains(":") ? "[" + options.host() + "]" : options.host();
  }

  /** {@return the file with the master's output} */
  public Path logFile() {
    return log;
  }

  /** {@return process id of the master that runs, or ran last} */
  public synchronized long pid() {
    return process.pid();
  }

  /** {@return whether the process lives, frozen or not} */
  public synchronized boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Waits until the process ends, whoever ends it. Blocks.
   *
   * @return the last lines of its log
   * @throws InterruptedException if the wait was interrupted
   */
  public String awaitEnd() throws InterruptedException {
    Process running;
    synchronized (this) {
      running = process;
    }
    running.waitFor();
    return logTail();
  }

  /** Ends the master at once, as a crash would, and waits until it is gone. Its keys are lost. */
  public synchronized void kill() {
    process.destroyForcibly();
    awaitEnd(Duration.ofMinutes(1));
  }

  /**
   * Stops the master's threads where they are: connections stay open, nothing is answered. Blocks until the last of them
   * has stopped, since the signal alone lets requests of a moment later through.
   */
  public synchronized void freeze() {
    signal(LibC.SIGSTOP, "freeze");
    long giveUpAt = System.nanoTime() + STOP_LIMIT.toNanos();
    while (!allThreadsStopped()) {
      if (hasEnded() || System.nanoTime() > giveUpAt)
        throw new IllegalStateException("freeze: the master did not stop");
    }
  }

  private boolean allThreadsStopped() {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
        // the state follows the name, which is in parentheses and may hold any character
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') return false;
      }
      return true;
    } catch (IOException e) {
      return false; // a thread that has just ended
    }
  }

  /** Lets a frozen master go on. */
  public synchronized void thaw() {
    signal(LibC.SIGCONT, "thaw");
  }

  private void signal(int signal, String what) {
    if (!process.isAlive()) throw new IllegalStateException("cannot " + what + " a master that has ended");
    if (LibC.get().kill(process.pid(), signal) != 0) throw new IllegalStateException(what + " failed");
  }

  /**
   * Kills the master if it lives and starts a new one, empty, on the same ports. Blocks until it serves.
   *
   * @throws LibraryUnavailableException if it does not start
   */
  public synchronized void restart() {
    kill();
    try {
      process = launch(runtime, options, ports, log);
      if (awaitServing()) return;
    } catch (IOException e) {
      throw new LibraryUnavailableException("the master cannot be restarted: " + e, List.of(), "see " + log, e);
    }
    throw MasterPorts.refused(ports.taken(options.host()));
  }

  /** Ends the master, gently first, and removes a temporary log. A second call does nothing. */
  @Override
  public synchronized void close() {
    process.destroy();
    if (!awaitEnd(STOP_LIMIT)) kill();
    if (options.log() != null) return;
    try {
      Leftovers.delete(log);
    } catch (IOException e) {
      // tried again when this process ends
    }
  }

  /** Also lets the watcher go, once there is nothing to watch. */
  private boolean awaitEnd(Duration limit) {
    boolean interrupted = false;
    long endNanos = System.nanoTime() + limit.toNanos();
    try {
      while (true) {
        try {
          if (!process.waitFor(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS)) return false;
          process.getOutputStream().close();
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (IOException e) {
          return true; // the pipe was broken already
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }
}
