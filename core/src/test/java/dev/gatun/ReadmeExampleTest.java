package dev.gatun;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program in README.md, run as a stranger would run it. */
class ReadmeExampleTest {
  private static final String MODULES = "dev.gatun.nativelib,dev.gatun.bindings,dev.gatun.core";

  @Test
  @DisplayName("the example of the README prints what the README says, and nothing else")
  void printsWhatItSays(@TempDir Path directory) throws IOException, InterruptedException {
    String readme = Files.readString(Path.of(System.getProperty("gatun.root"), "README.md"));
    String code = readme.substring(readme.indexOf("```java\n") + "```java\n".length());
    Path source = Files.writeString(directory.resolve("Example.java"), code.substring(0, code.indexOf("```")));
    Path output = directory.resolve("output");
    Path errors = directory.resolve("errors");

    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-p", System.getProperty("jdk.module.path"), "--add-modules", "dev.gatun.core",
        "--enable-native-access=" + MODULES, "--illegal-native-access=deny", source.toString())
        .redirectError(errors.toFile()).redirectOutput(output.toFile()).start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) process.destroyForcibly().waitFor();

    // SLF4J says so itself where an application brings no logger; nothing else may warn
    List<String> warnings = Files.readAllLines(errors).stream().filter(line -> !line.startsWith("SLF4J")).toList();
    assertEquals(List.of(), warnings);
    assertEquals(List.of("Stored[]", "Hit[bytes=65536]", "VERIFIED", "Miss[]"), Files.readAllLines(output));
    assertEquals(0, process.exitValue());
  }
}
