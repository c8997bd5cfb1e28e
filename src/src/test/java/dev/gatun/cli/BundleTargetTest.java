package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.bundle.ForeignTarget;
import dev.gatun.cli.bundle.PlainJdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Archives for another platform. Nothing here needs a JDK of it: what is refused, and what is asked of jlink. */
class BundleTargetTest {
  private static final String OTHER = ForeignTarget.PLATFORMS.stream()
      .filter(platform -> !platform.equals(ForeignTarget.here())).findFirst().orElseThrow();

  @TempDir
  Path folder;

  private Outcome bundle(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("bundle", "--no-benchmarks", "--output",
        folder.resolve("b.tar.xz").toString(), "--target"));
    all.addAll(List.of(arguments));
    return GatunProcess.run(all.toArray(String[]::new));
  }

  @Test
  @DisplayName("a JDK with no jmods, of another platform or of another version is refused by name")
  void refusesJdks() throws Exception {
    String release = Runtime.version().feature() + ".0.3";
    Path bare = Files.createDirectory(folder.resolve("bare"));
    Path here = PlainJdk.of(folder.resolve("here"), "linux-amd64", release);
    Path old = PlainJdk.of(folder.resolve("old"), "linux-aarch64", "21.0.4");
    Path broken = PlainJdk.of(folder.resolve("broken"), "linux-aarch64", release);
    Files.writeString(broken.resolve("jmods/java.base.jmod"), "PK");
    bundle("linux-aarch64", "--jdk", "/nowhere/jdk").exits(2).says("--jdk must be a folder: /nowhere/jdk");
    bundle("linux-aarch64", "--jdk", bare.toString()).exits(2).says("--jdk has no jmods/java.base.jmod: " + bare);
    bundle("linux-aarch64", "--jdk", here.toString()).exits(2)
        .says("--jdk must be a JDK for linux-aarch64: " + here + " is for linux-x86_64");
    bundle("linux-aarch64", "--jdk", old.toString()).exits(2)
        .says("--jdk must be a JDK " + Runtime.version().feature() + ": " + old + " is Java 21.0.4");
    bundle("linux-aarch64", "--jdk", broken.toString()).exits(2).says("that cannot be read: " + broken);
  }

  @Test
  @DisplayName("a JDK for this platform, none for another, and another platform's Mooncake are refused")
  void refusesCombinations() throws Exception {
    bundle(ForeignTarget.here(), "--jdk", folder.toString()).exits(2)
        .says("--jdk is for another --target than this platform's");
    bundle(OTHER).exits(2).says("--target " + OTHER + " needs --jdk DIR");
    bundle(OTHER, "--jdk", folder.toString(), "--mooncake").exits(2).says("--mooncake packs the one installed here");
  }

  @Test
  @DisplayName("what jlink says of a JDK that lacks modules is shown, and no parts are left")
  void linksTheTarget() throws Exception {
    Path jdk = PlainJdk.of(Files.createTempDirectory(folder, "jdk"), "linux-aarch64",
        Runtime.version().feature() + ".0.3");
    Outcome refused = bundle("linux-aarch64", "--jdk", jdk.toString()).exits(1);
    refused.says("jlink ended with 1: Error: Module ");
    refused.says(" not found");
    assertTrue(refused.err().contains("the same release of the JDK"), refused.err());
    assertEquals(List.of(jdk), entries(), "no parts are left");
  }

  private List<Path> entries() throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.toList();
    }
  }
}
