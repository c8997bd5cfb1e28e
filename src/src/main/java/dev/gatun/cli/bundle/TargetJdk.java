package dev.gatun.cli.bundle;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.ModuleAttribute;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * A JDK of another platform, from whose modules a runtime is linked here.
 *
 * @param jmods the folder of its modules, {@code java.base.jmod} and the others
 * @param platform what it runs on, such as {@code linux-aarch64}
 * @param version such as {@code 25.0.3}
 */
record TargetJdk(Path jmods, String platform, Runtime.Version version) {
  private static final String BASE = "java.base.jmod";
  private static final int MAGIC_BYTES = 4; // "JM" and a version; a zip file follows
  private static final String MODULE_INFO = "classes/module-info.class";

  /**
   * Looks at a JDK, or at a folder of modules.
   *
   * @param folder home of the JDK, or its folder {@code jmods}
   * @param platform what is wanted
   * @return the JDK
   * @throws CommandException if it has no modules to link, or is of another platform or version than wanted
   */
  static TargetJdk of(Path folder, String platform) {
    if (!Files.isDirectory(folder)) throw refused("must be a folder: " + folder);
    Path jmods = Files.exists(folder.resolve(BASE)) ? folder : folder.resolve("jmods");
    Path base = jmods.resolve(BASE);
    if (!Files.exists(base)) {
      throw refused(
          "has no jmods/" + BASE + ": " + folder + "; some JDKs come without their jmods, which are a package of "
              + "their own: unpack it there");
    }
    TargetJdk found;
    try {
      found = read(jmods, base);
    } catch (IOException | IllegalArgumentException e) {
      throw refused("has a " + BASE + " that cannot be read: " + base + " (" + e.getMessage() + ")");
    }
    if (!found.platform.equals(platform)) {
      throw refused("must be a JDK for " + platform + ": " + folder + " is for " + found.platform);
    }
    int wanted = Runtime.version().feature();
    if (found.version.feature() != wanted) {
      throw refused("must be a JDK " + wanted + ": " + folder + " is Java " + found.version);
    }
    return found;
  }

  private static CommandException refused(String why) {
    return new CommandException(ExitCode.USAGE, "--jdk " + why);
  }

  private static TargetJdk read(Path jmods, Path base) throws IOException {
    try (InputStream file = new BufferedInputStream(Files.newInputStream(base))) {
      byte[] magic = file.readNBytes(MAGIC_BYTES);
      if (magic.length < MAGIC_BYTES || magic[0] != 'J' || magic[1] != 'M') throw new IOException("no jmod file");
      ZipInputStream zip = new ZipInputStream(file);
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry())
        if (entry.getName().equals(MODULE_INFO)) return of(jmods, ClassFile.of().parse(zip.readAllBytes()));
    }
    throw new IOException("no " + MODULE_INFO);
  }

  private static TargetJdk of(Path jmods, ClassModel moduleInfo) throws IOException {
    String target = moduleInfo.findAttribute(Attributes.moduleTarget())
        .map(attribute -> attribute.targetPlatform().stringValue())
        .orElseThrow(() -> new IOException("it names no platform"));
    String version = moduleInfo.findAttribute(Attributes.module()).flatMap(ModuleAttribute::moduleVersion)
        .orElseThrow(() -> new IOException("it names no version")).stringValue();
    return new TargetJdk(jmods, target.replace("-amd64", "-x86_64"), Runtime.Version.parse(version));
  }
}
