package dev.gatun.internal.backend;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A JVM of its own that runs a main class of the tests, for what a test process cannot survive or may do once only: exits,
 * signals, the binding to a library. Runs on the class path; its output goes to a file.
 */
public final class ChildJvm implements AutoCloseable {
  private static final Duration WAIT_MAX = Duration.ofMinutes(3);
  private static final long POLL_NANOS = 2_000_000;

  private final Process process;
  private final Path output;
  private final long startedNanos = System.nanoTime();

  private ChildJvm(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /** How a child ended. */
  public record End(int code, long millis, String output) {}

  /** Starts a main class. */
  public static ChildJvm start(Class<?> main, String... arguments) {
    return start(main, Map.of(), List.of(), arguments);
  }

  /** Starts a main class with more environment variables and JVM flags. */
  public static ChildJvm start(Class<?> main, Map<String, String> environment, List<String> flags,
      String... arguments) {
    return start(List.of(), main, environment, flags, arguments);
  }

  /** As above, through a program that is given the command. */
  static ChildJvm start(List<String> through, Class<?> main, Map<String, String> environment, List<String> flags,
      String... arguments) {
    try {
      Path folder = Files.createDirectories(Path.of("target", "children").toAbsolutePath());
      Path output = Files.createTempFile(folder, main.getSimpleName() + '-', ".log");
      List<String> command = new ArrayList<>(through);
      command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
          "--illegal-native-access=deny", "-Xmx512m",
          "-XX:ErrorFile=" + folder.resolve("hs_err_pid%p.log")));
      if (flags.stream().noneMatch(flag -> flag.startsWith("--enable-native-access"))) {
        command.add("--enable-native-access=ALL-UNNAMED");
      }
      command.addAll(flags);
      command.addAll(List.of("-cp", classPath(), main.getName()));
      command.addAll(List.of(arguments));
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      return new ChildJvm(builder.start(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the child has printed a line that contains the text. */
  public void awaitLine(String text) {
    long end = System.nanoTime() + WAIT_MAX.toNanos();
    while (output().lines().noneMatch(line -> line.contains(text))) {
      if (!process.isAlive() && output().lines().noneMatch(line -> line.contains(text))) {
        throw new AssertionError(
            "the child ended with " + process.exitValue() + " before \"" + text + "\":\n" + output());
      }
      if (System.nanoTime() > end)
        throw new AssertionError("no \"" + text + "\" within " + WAIT_MAX + ":\n" + output());
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Waits until it ends. */
  public End await() {
    try {
      if (!process.waitFor(WAIT_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("the child still runs after " + WAIT_MAX + ":\n" + output());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
    return new End(process.exitValue(), (System.nanoTime() - startedNanos) / 1_000_000, output());
  }

  /** Sends SIGTERM. */
  public void terminate() {
    process.destroy();
  }

  /** {@return whether it runs} */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** {@return its process id} */
  public long pid() {
    return process.pid();
  }

  /** Writes a line to its standard input. */
  public void send(String line) {
    try {
      process.getOutputStream().write((line + '\n').getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends its standard input, which children wait for where they wait for the parent. */
  public void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@return everything it has printed} */
  public String output() {
    try {
      return Files.readString(output, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends SIGKILL. */
  public void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    kill();
  }

  /** Everything that this JVM has, whether by class path or by module path; test classes are patched into the module. */
  private static String classPath() {
    Stream<String> own = Stream.of(place(dev.gatun.backend.StoreOptions.class), "target/classes", "target/test-classes")
        .map(path -> Path.of(path).toAbsolutePath().toString());
    Stream<String> given = Stream.of("java.class.path", "jdk.module.path").map(name -> System.getProperty(name, ""))
        .flatMap(paths -> Stream.of(paths.split(File.pathSeparator))).filter(path -> !path.isEmpty());
    return String.join(File.pathSeparator, Stream.concat(own, given).distinct().toList());
  }

  private static String place(Class<?> type) {
    return Path.of(URI.create(type.getProtectionDomain().getCodeSource().getLocation().toString())).toString();
  }
}
