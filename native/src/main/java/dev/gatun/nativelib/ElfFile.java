package dev.gatun.nativelib;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a shared library needs and offers, read from its own tables.
 *
 * @param needed sonames of the libraries it is linked to
 * @param undefined symbols that some other library must define, weak ones left out since they may stay undefined
 * @param defined symbols that it defines
 */
record ElfFile(List<String> needed, Set<String> undefined, Set<String> defined) {
  private static final int MAGIC = 0x464c457f;
  private static final byte CLASS_64 = 2;
  private static final byte LITTLE_ENDIAN = 1;
  private static final int TYPE_SHARED = 3;
  private static final int HEADER_BYTES = 64;
  // numbers of the ELF specification, by the JVM's os.arch
  private static final Map<String, Integer> MACHINES = Map.of("amd64", 62, "aarch64", 183);
  private static final int SECTION_DYNAMIC = 6;
  private static final int SECTION_DYNAMIC_SYMBOLS = 11;
  private static final long DYNAMIC_NEEDED = 1;
  private static final int BIND_LOCAL = 0;
  private static final int BIND_WEAK = 2;

  static ElfFile read(Path file) throws IOException {
    try {
      return parse(ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN));
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new IOException("not a complete 64-bit little-endian ELF file: " + file, e);
    }
  }

  /**
   * Whether a file's header says that it is a shared library for this JVM's processor; so says that of a program which can lie
   * anywhere.
   */
  static boolean isLibrary(Path file) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (InputStream in = Files.newInputStream(file)) {
      if (in.readNBytes(header.array(), 0, HEADER_BYTES) < HEADER_BYTES || !isElf(header)) return false;
    }
    Integer machine = MACHINES.get(System.getProperty("os.arch", ""));
    return header.getShort(16) == TYPE_SHARED && (machine == null || header.getShort(18) == machine);
  }

  private static boolean isElf(ByteBuffer header) {
    return header.getInt(0) == MAGIC && header.get(4) == CLASS_64 && header.get(5) == LITTLE_ENDIAN;
  }

  private static ElfFile parse(ByteBuffer elf) {
    if (!isElf(elf)) throw new IllegalArgumentException("magic");
    List<String> needed = new ArrayList<>();
    Set<String> undefined = new LinkedHashSet<>();
    Set<String> defined = new LinkedHashSet<>();
    int sections = Short.toUnsignedInt(elf.getShort(60));
    for (int i = 0; i < sections; i++) {
      Section section = Section.at(elf, i);
      if (section.type == SECTION_DYNAMIC) readNeeded(elf, section, needed);
      if (section.type == SECTION_DYNAMIC_SYMBOLS) readSymbols(elf, section, undefined, defined);
    }
    return new ElfFile(needed, undefined, defined);
  }

  private static void readNeeded(ByteBuffer elf, Section dynamic, List<String> needed) {
    Section strings = Section.at(elf, dynamic.link);
    for (int at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
      if (elf.getLong(at) == DYNAMIC_NEEDED) needed.add(string(elf, strings, Math.toIntExact(elf.getLong(at + 8))));
    }
  }

  private static void readSymbols(ByteBuffer elf, Section symbols, Set<String> undefined, Set<String> defined) {
    Section strings = Section.at(elf, symbols.link);
    for (int at = symbols.offset; at < symbols.offset + symbols.size; at += 24) {
      int binding = elf.get(at + 4) >> 4;
      String name = string(elf, strings, elf.getInt(at));
      if (name.isEmpty() || binding == BIND_LOCAL) continue;
      if (elf.getShort(at + 6) != 0) defined.add(name);
      else if (binding != BIND_WEAK) undefined.add(name);
    }
  }

  private static String string(ByteBuffer elf, Section strings, int index) {
    int start = strings.offset + index;
    int end = start;
    while (elf.get(end) != 0)
      end++;
    byte[] name = new byte[end - start];
    elf.get(start, name);
    return new String(name, StandardCharsets.UTF_8);
  }

  private record Section(int type, int offset, int size, int link) {
    static Section at(ByteBuffer elf, int index) {
      int at = Math.toIntExact(elf.getLong(40)) + index * Short.toUnsignedInt(elf.getShort(58));
      return new Section(elf.getInt(at + 4), Math.toIntExact(elf.getLong(at + 24)),
          Math.toIntExact(elf.getLong(at + 32)), elf.getInt(at + 40));
    }
  }
}
