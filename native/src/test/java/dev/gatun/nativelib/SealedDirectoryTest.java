package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SealedDirectoryTest {

  @Test
  @DisplayName("a list of files that a full disk cut short is damage, not an installation and not an internal error")
  void listCutShort(@TempDir Path folder) throws Exception {
    Path root = Files.createDirectory(folder.resolve("sealed"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.writeString(root.resolve("library"), "content");
    SealedDirectory.seal(root);
    assertTrue(SealedDirectory.isIntact(root));
    Path list = root.resolve("manifest.sha256");
    String whole = Files.readString(list);
    for (String damaged : new String[]{"", whole.substring(0, 10), "\0  \0\n", whole + "half a line"}) {
      Files.writeString(list, damaged);
      assertFalse(SealedDirectory.isIntact(root), damaged);
    }
  }
}
