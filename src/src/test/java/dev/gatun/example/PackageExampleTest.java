package dev.gatun.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The examples that package pages show. */
class PackageExampleTest {
  private static final Pattern EXAMPLE = Pattern.compile("<pre>\\{@code\\R(.*?)\\* }</pre>", Pattern.DOTALL);

  @TempDir
  Path classes;

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "src/main/java/dev/gatun/example | dev.gatun.example | BlockPool cache, KvStore store, "
          + "RefitCoordinator coordinator, KvTransferConfig config, List<Integer> prompt",
      "../core/src/main/java/dev/gatun/connector | dev.gatun.connector | KvStore store, RefitCoordinator coordinator, "
          + "long pageBytes, BlockPool pool, KvRequest request, BlockTable blocks, List<ScheduledRequest> step",
      "../core/src/main/java/dev/gatun/codec | dev.gatun.codec | KvStore store, long[] tokens, MemorySegment target, "
          + "String listed"})
  @DisplayName("the example of a package compiles as it stands")
  void compiles(String folder, String name, String given) throws Exception {
    Matcher example = EXAMPLE.matcher(Files.readString(Path.of(folder, "package-info.java")));
    assertTrue(example.find(), "there is an example");
    String lines = example.group(1).lines().map(line -> line.replaceFirst("^ \\*", ""))
        .collect(Collectors.joining("\n"));
    String source = "import dev.gatun.backend.*;import dev.gatun.codec.*;import dev.gatun.connector.*;"
        + "import dev.gatun.memory.*;import dev.gatun.refit.*;import dev.gatun.store.*;import dev.gatun.example.*;"
        + "import java.lang.foreign.*;import java.util.*;"
        + "class Shown { void shown(" + given + ") {\n" + lines + "\n} }";
    Path file = Files.writeString(classes.resolve("Shown.java"), source);
    String path = System.getProperty("java.class.path") + ':' + System.getProperty("jdk.module.path", "");
    Process compiler = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "javac").toString(),
        "-proc:none", "-d", classes.toString(), "-cp", path, file.toString()).redirectErrorStream(true).start();
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, compiler.waitFor(), () -> name + ": " + said);
  }
}
