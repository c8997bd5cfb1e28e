package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleTest {
  @TempDir
  Path folder;

  @Test
  @DisplayName("the archive runs the main job, from another folder, with no Java of the machine's; and is never overwritten")
  void runs() throws Exception {
    Path archive = folder.resolve("b.tar.xz");
    long bytes = GatunProcess.run("bundle", "--no-benchmarks", "--json", "--output", archive.toString()).exits(0)
        .number("bytes");
    assertEquals(Files.size(archive), bytes);
    assertTrue(bytes < 60L << 20, "a node takes archives below 60 MiB: " + bytes);
    assertEquals(List.of(archive), entries(folder), "no parts are left");
    Outcome again = GatunProcess.run("bundle", "--output", archive.toString());
    again.exits(2).says("--output exists already");

    Path there = Files.createDirectory(folder.resolve("there"));
    assertEquals(0, run(List.of("tar", "-xf", archive.toString(), "-C", there.toString())));
    Path root = entries(there).getFirst();
    Path report = folder.resolve("report.json");
    String gatun = root.resolve("bin/gatun").toString();
    assertEquals(0, run(List.of("env", "-i", "PATH=/usr/bin:/bin", "sh", "-c",
        "\"$0\" replay --requests 50 --page-bytes 4k --json > \"$1\"", gatun, report.toString())));
    JsonFields figures = new JsonFields(Json.parse(Files.readString(report)));
    assertEquals(50, figures.number("requests").longValue());
    assertEquals(0, figures.number("stalePages").longValue());
    assertTrue(Files.isDirectory(root.resolve("cache/native")), "native libraries were unpacked inside of it");
    assertEquals(4, run(List.of(root.resolve("bin/benchmark").toString(), "org.openjdk.jmh.Main")));
  }

  private static List<Path> entries(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.toList();
    }
  }

  private int run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(folder.resolve("printed").toFile()).start();
    try {
      assertTrue(process.waitFor(300, TimeUnit.SECONDS), () -> "did not end: " + command);
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }
}
