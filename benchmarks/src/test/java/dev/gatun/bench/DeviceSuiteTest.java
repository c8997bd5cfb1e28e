package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class DeviceSuiteTest {
  @TempDir
  Path folder;

  private int run(String... arguments) throws Exception {
    List<String> flags = List.of("--driver", "host", "--quick", "yes", "--output",
        folder.resolve("all.json").toString());
    List<String> all = new ArrayList<>(flags);
    all.addAll(List.of(arguments));
    Process suite = new Launcher(folder.resolve("log"), Map.of()).startJava(DeviceSuite.class, all);
    suite.getInputStream().readAllBytes();
    return suite.waitFor();
  }

  private JsonNode suites() throws IOException {
    return new ObjectMapper().readTree(Files.readString(folder.resolve("all.json"))).path("suites");
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("one report of every suite; without a compiler the probes are left out by name, and that is no failure")
  void oneReport() throws Exception {
    assertEquals(0, run("--nvcc", "/nowhere/nvcc", "--suites", "pageProbe,staging,store1,push,pushBeside"));
    JsonNode suites = suites();
    assertTrue(suites.path("pageProbe").path("leftOut").asText().contains("/nowhere/nvcc"), suites::toString);
    assertTrue(suites.path("staging").path("rows").path(0).path("correct").asBoolean(), suites::toString);
    JsonNode producer = suites.path("staging").path("producer");
    assertEquals(producer.path("rounds").asInt(-1), producer.path("byteExact").asInt(), producer::toString);
    assertEquals(0, suites.path("store1").path("rows").path(0).path("wrongBlocks").asInt(-1));
    assertEquals(0, suites.path("push").path("rows").path(0).path("wrongBlocks").asInt(-1));
    assertEquals(0, suites.path("pushBeside").path("rows").path(0).path("wrongBlocks").asInt(-1));
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("a suite that fails is said with its output, the others run, and the exit code tells")
  void oneFails() throws Exception {
    Path compiler = Files.writeString(folder.resolve("nvcc"), "#!/bin/sh\necho no such option >&2; exit 3\n");
    assertTrue(compiler.toFile().setExecutable(true));
    assertEquals(1, run("--nvcc", compiler.toString(), "--suites", "pageProbe,push"));
    assertTrue(suites().path("pageProbe").path("failed").asText().contains("no such option"), () -> "of the compiler");
    assertTrue(suites().path("push").has("rows"));
  }

  @Test
  @DisplayName("suites that are none are refused with the names of those that are")
  void unknownSuite() {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
        () -> DeviceSuite.main(new String[]{"--suites", "stagings"}));
    assertTrue(String.valueOf(refused.getMessage()).contains("pageProbe"), refused::toString);
  }
}
