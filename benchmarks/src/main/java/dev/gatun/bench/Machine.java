package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/** Where and from what a figure comes. */
final class Machine {
  private Machine() {}

  static ObjectNode describe() {
    return JsonNodeFactory.instance.objectNode().put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString())
        .put("commit", commit()).put("jdk", Runtime.version() + " " + System.getProperty("java.vendor"))
        .put("cpu", line("/proc/cpuinfo", "model name")).put("cores", Runtime.getRuntime().availableProcessors())
        .put("memory", line("/proc/meminfo", "MemTotal"))
        .put("kernel", System.getProperty("os.name") + ' ' + System.getProperty("os.version"))
        .put("gpuDriver", line("/proc/driver/nvidia/version", "NVRM version"))
        .put("loadBefore", load());
  }

  /** Ends what {@link #describe} began: prints it, and writes it to a file unless the name is empty. */
  static void publish(ObjectNode report, String output) throws IOException {
    String text = report.put("loadAfter", load()).toPrettyString();
    System.out.println(text);
    if (!output.isEmpty()) Files.writeString(Path.of(output), text + "\n");
  }

  /** {@return the load average of the last minute: above the number of cores, a figure is of little worth} */
  static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  private static String line(String file, String key) {
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      return lines.filter(line -> line.startsWith(key)).map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst().orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Of the bundle that this runs from, or of the checkout. */
  private static String commit() {
    String bundled = System.getProperty("gatun.commit", "");
    if (!bundled.isEmpty()) return bundled;
    String changed = git("status", "--porcelain", "--untracked-files=no");
    return git("rev-parse", "--short=12", "HEAD") + (changed.isEmpty() ? "" : ", with changes");
  }

  private static String git(String... arguments) {
    try {
      Process process = new ProcessBuilder(
          Stream.concat(Stream.of("git"), Stream.of(arguments)).toList()).redirectError(ProcessBuilder.Redirect.DISCARD)
          .start();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }
}
