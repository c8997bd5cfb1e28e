package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.nativelib.NixlInstaller;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("nixl")
class NixlTest {
  @Test
  @DisplayName("nixl install gets the pinned NIXL, the second time without doing anything; doctor and version say where it is")
  void installs() throws Exception {
    GatunProcess.run("nixl", "install").exits(0);
    Outcome again = GatunProcess.run("nixl", "install", "--json").exits(0);

    assertEquals("", again.err());
    assertEquals(NixlInstaller.VERSION, again.json().text("version"));
    String library = again.json().text("library");
    assertTrue(Files.isRegularFile(Path.of(library)), library);
    assertTrue(GatunProcess.run("doctor").exits(0).out().contains(library));
    assertTrue(GatunProcess.run("--version").exits(0).out().contains(again.json().text("root")));
  }
}
