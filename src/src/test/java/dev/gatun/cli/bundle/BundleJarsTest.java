package dev.gatun.cli.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleJarsTest {
  @TempDir
  Path folder;

  private Path jar(String place, String text) throws IOException {
    return Files.writeString(Files.createDirectories(folder.resolve(place)).resolve("gatun-core.jar"), text);
  }

  @Test
  @DisplayName("benchmarks that were built with another core than the command's are refused, so no figure is of code it is not")
  void otherBuild() throws IOException {
    Path command = jar("modules", "new");
    Path benchmarks = jar("lib", "old");
    CommandException refused = assertThrows(CommandException.class,
        () -> Bundle.requireOneBuild(List.of(command), List.of(benchmarks), "of another build"));
    assertEquals("of another build", refused.getMessage());
    assertEquals(ExitCode.UNAVAILABLE, refused.exitCode());
  }

  @Test
  @DisplayName("the same jar in both places is one build, and a folder of classes or a jar that only one has says nothing")
  void oneBuild() throws IOException {
    Path classes = Files.createDirectories(folder.resolve("classes/gatun-core.jar"));
    Path other = Files.writeString(folder.resolve("jmh.jar"), "jmh");
    Bundle.requireOneBuild(List.of(jar("modules", "one"), classes), List.of(jar("lib", "one"), other),
        "of another build");
  }
}
