package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The launcher script, in a folder and on a PATH of the test's own. */
class LauncherTest {
  private static final List<String> BASICS = List.of("bash", "dirname", "readlink", "find", "grep", "mkdir", "touch",
      "env", "mv");

  @TempDir
  Path root;

  @Test
  @DisplayName("tools that the build needs and the machine lacks are named with the line that installs them")
  void namesMissingTools() throws Exception {
    install();
    Run run = launch();
    assertEquals(4, run.code, run.err);
    assertTrue(run.err.contains("sudo apt-get install -y maven cmake ninja-build g++"), run.err);
  }

  @Test
  @DisplayName("whatever is newer than its jar is built before the command runs; nothing is built when nothing is newer")
  void buildsWhatIsOld() throws Exception {
    install();
    for (String tool : List.of("cmake", "ninja", "c++"))
      script(tool, "exit 0");
    script("mvn", "echo \"mvn $*\" >> ../log; mkdir -p src/target/modules; touch src/target/gatun-cli-1.jar");
    Path jdk = fakeJdk();
    assertEquals(List.of("building", "ran"), sequence(jdk));
    assertEquals(List.of("ran"), sequence(jdk));
    Path source = root.resolve("gatun/core/src/main/New.java");
    Files.createFile(source);
    Files.setLastModifiedTime(source, FileTime.fromMillis(System.currentTimeMillis() + 60_000));
    assertEquals(List.of("building", "ran"), sequence(jdk));
    assertTrue(Files.readString(root.resolve("log")).contains("package"), "Maven was called");
  }

  @Test
  @DisplayName("a JAVA_HOME of another version is passed over")
  void passesOverOldJava() throws Exception {
    install();
    Path jdk = fakeJdk();
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
    Run run = launch("JAVA_HOME=" + jdk);
    assertTrue(!run.out.contains("ran"), run.out);
  }

  @Test
  @DisplayName("without a home directory or a locale the command runs, and takes its arguments for UTF-8")
  void withoutHomeAndLocale() throws Exception {
    install();
    Path jdk = fakeJdk();
    executable(jdk.resolve("bin/java"), "echo \"$LC_ALL\"");
    built();
    assertEquals("C.UTF-8", launch("JAVA_HOME=" + jdk, "HOME").out.strip());
    assertEquals("C.UTF-8", launch("JAVA_HOME=" + jdk, "LC_ALL=C").out.strip());
    assertEquals("de_DE.UTF-8", launch("JAVA_HOME=" + jdk, "LC_ALL=de_DE.UTF-8").out.strip());
  }

  @Test
  @DisplayName("streams that are closed are open for the command, and output is known to be lost")
  void closedStreams() throws Exception {
    install();
    Path jdk = fakeJdk();
    Path streams = root.resolve("streams");
    executable(jdk.resolve("bin/java"), "for n in 0 1 2; do readlink /proc/$$/fd/$n >> " + streams + "; done");
    built();
    ProcessBuilder closed = builder("JAVA_HOME=" + jdk);
    closed.command("/bin/bash", "-c", "exec \"$0\" --version <&- >&- 2>&-", root.resolve("gatun/gatun").toString());
    assertTrue(closed.start().waitFor(60, TimeUnit.SECONDS), "the launcher hangs");
    assertEquals(List.of("/dev/null", "/dev/full", "/dev/null"), Files.readAllLines(streams));
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "HUP, 129", "INT, 130"})
  @DisplayName("a launcher that is ended while it builds ends the build, with all that it started")
  void endsTheBuild(String signal, int code) throws Exception {
    install();
    for (String tool : List.of("cmake", "ninja", "c++"))
      script(tool, "exit 0");
    script("mvn", "/bin/sleep 600 & echo $$ $! > ../started.part; mv ../started.part ../started; wait");
    Process launcher = builder("JAVA_HOME=" + fakeJdk()).start();
    Path started = root.resolve("started");
    while (!Files.exists(started))
      assertTrue(launcher.isAlive(), "it ended before the build began");
    List<ProcessHandle> build = Stream.of(Files.readString(started).strip().split(" "))
        .map(id -> ProcessHandle.of(Long.parseLong(id)).orElseThrow()).toList();
    assertEquals(0, new ProcessBuilder("/bin/kill", "-" + signal, Long.toString(launcher.pid())).start().waitFor());
    assertTrue(launcher.waitFor(60, TimeUnit.SECONDS), "the launcher hangs");
    assertEquals(code, launcher.exitValue());
    for (ProcessHandle process : build)
      process.onExit().get(60, TimeUnit.SECONDS);
  }

  private void built() throws IOException {
    Files.createDirectories(root.resolve("gatun/src/target/modules"));
    Files.createFile(root.resolve("gatun/src/target/gatun-cli-1.jar"));
  }

  private List<String> sequence(Path jdk) throws Exception {
    Run run = launch("JAVA_HOME=" + jdk);
    assertEquals(0, run.code, run.err);
    return run.err.contains("building") ? List.of("building", run.out.strip()) : List.of(run.out.strip());
  }

  private Path fakeJdk() throws IOException {
    Path bin = Files.createDirectories(root.resolve("jdk/bin"));
    executable(bin.resolve("java"), "echo ran");
    executable(bin.resolve("javac"), "exit 0");
    Files.writeString(root.resolve("jdk/release"), "JAVA_VERSION=\"25.0.1\"\n");
    return root.resolve("jdk");
  }

  private void install() throws IOException {
    Path gatun = Files.createDirectories(root.resolve("gatun"));
    Files.copy(Path.of(System.getProperty("gatun.root"), "gatun"), gatun.resolve("gatun"));
    for (String module : List.of("native", "bindings", "core", "src")) {
      Files.createDirectories(gatun.resolve(module).resolve("src/main"));
      Files.createFile(gatun.resolve(module).resolve("pom.xml"));
    }
    for (String folder : List.of("bindings/src/generated", "native/abi", "native/includes", "native/loopback",
        "native/marker")) {
      Files.createDirectories(gatun.resolve(folder));
    }
    Files.createFile(gatun.resolve("native/CMakeLists.txt"));
    Files.createFile(gatun.resolve("pom.xml"));
    Files.createDirectories(root.resolve("bin"));
    for (String tool : BASICS) {
      Path found = List.of("/usr/bin", "/bin").stream().map(folder -> Path.of(folder, tool)).filter(Files::exists)
          .findFirst().orElseThrow();
      Files.writeString(root.resolve("bin").resolve(tool), "#!/bin/bash\nexec " + found + " \"$@\"\n");
      assertTrue(root.resolve("bin").resolve(tool).toFile().setExecutable(true));
    }
  }

  private void script(String name, String body) throws IOException {
    executable(root.resolve("bin").resolve(name), body);
  }

  private static void executable(Path file, String body) throws IOException {
    Files.writeString(file, "#!/usr/bin/env bash\n" + body + "\n");
    assertTrue(file.toFile().setExecutable(true));
  }

  private record Run(int code, String out, String err) {}

  private ProcessBuilder builder(String... environment) {
    ProcessBuilder builder = new ProcessBuilder("/bin/bash", root.resolve("gatun/gatun").toString(), "--version");
    builder.environment().clear();
    builder.environment().put("PATH", root.resolve("bin").toString());
    builder.environment().put("HOME", root.toString());
    for (String entry : environment) {
      String[] variable = entry.split("=", 2);
      if (variable.length == 2) builder.environment().put(variable[0], variable[1]);
      else
        builder.environment().remove(entry); // a name alone: not set
    }
    return builder;
  }

  private Run launch(String... environment) throws Exception {
    Path err = root.resolve("err");
    Process process = builder(environment).redirectError(err.toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the launcher hangs");
    return new Run(process.exitValue(), out, Files.readString(err));
  }
}
