package dev.gatun.cli.bundle;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.classfile.attribute.ModuleTargetAttribute;
import java.lang.constant.ModuleDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** What a JDK of some platform and version looks like from outside: a {@code java.base.jmod} with nothing but its descriptor. */
public final class PlainJdk {
  private PlainJdk() {}

  /** Makes one. {@return its home} */
  public static Path of(Path home, String platform, String version) {
    byte[] info = ClassFile.of().buildModule(
        ModuleAttribute.of(ModuleDesc.of("java.base"), module -> module.moduleVersion(version)),
        builder -> builder.with(ModuleTargetAttribute.of(platform)));
    try {
      ByteArrayOutputStream jmod = new ByteArrayOutputStream();
      jmod.write(new byte[]{'J', 'M', 1, 0});
      try (ZipOutputStream zip = new ZipOutputStream(jmod)) {
        zip.putNextEntry(new ZipEntry("classes/module-info.class"));
        zip.write(info);
      }
      Files.write(Files.createDirectories(home.resolve("jmods")).resolve("java.base.jmod"), jmod.toByteArray());
      return home;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
