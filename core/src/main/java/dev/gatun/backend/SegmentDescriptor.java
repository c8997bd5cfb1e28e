package dev.gatun.backend;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What a peer must know to reach the memory of an engine: which kind of engine, its name, whatever the library needs
 * beyond that, the registered ranges, and which of the engines that may have the name one after the other it is. Handed over
 * out of band. Immutable.
 */
public final class SegmentDescriptor {
  /** Longest segment name, in characters: a host name and a port fit several times. */
  public static final int NAME_MAX = 1_024;
  /** Most bytes of metadata: some hundred times what agents with hundreds of regions hand out. */
  public static final int METADATA_MAX = 16 << 20;
  /** Most ranges: real engines become slow or refuse descriptors far below it. */
  public static final int RANGES_MAX = 16_384;

  // "gTs2": tells a descriptor from anything else, and its format from later ones
  private static final int MAGIC = 0x67547332;

  private final String engine;
  private final String name;
  private final byte[] metadata;
  private final List<MemoryRange> ranges;
  private final Optional<EngineInstance> instance;

  /**
   * Describes an engine of which nobody knows whether another had its name before.
   *
   * @param engine kind of engine, as {@link EngineOptions#engine()}
   * @param name segment name, 1 to {@link #NAME_MAX} characters without NUL
   * @param metadata what the library's own exchange needs, empty where the name is enough; copied
   * @param ranges registered memory in any order, not overlapping; empty if unknown, in which case remote addresses are
   *     not checked before they are sent
   * @throws IllegalArgumentException naming the field, the value and what is allowed
   */
  public SegmentDescriptor(String engine, String name, byte[] metadata, List<MemoryRange> ranges) {
    this(engine, name, metadata, ranges, Optional.empty());
  }

  /**
   * Describes an engine.
   *
   * @param engine see above
   * @param name see above
   * @param metadata see above
   * @param ranges see above
   * @param instance which engine of that name, empty if unknown
   */
  public SegmentDescriptor(String engine, String name, byte[] metadata, List<MemoryRange> ranges,
      Optional<EngineInstance> instance) {
    this.engine = EngineOptions.requireEngine("engine", engine);
    this.name = requireName(name);
    if (metadata.length > METADATA_MAX) {
      throw new IllegalArgumentException("metadata must be at most " + METADATA_MAX + " bytes: " + metadata.length);
    }
    this.metadata = metadata.clone();
    this.ranges = sorted(ranges);
    this.instance = instance;
  }

  /** {@return kind of engine} */
  public String engine() {
    return engine;
  }

  /** {@return the name under which the library finds the engine} */
  public String name() {
    return name;
  }

  /** {@return a copy of what the library needs beyond the name, empty if nothing} */
  public byte[] metadata() {
    return metadata.clone();
  }

  /** {@return registered memory by ascending address; empty if unknown} */
  public List<MemoryRange> ranges() {
    return ranges;
  }

  /** {@return which engine of that name, empty if unknown} */
  public Optional<EngineInstance> instance() {
    return instance;
  }

  /** {@return the descriptor as bytes, for {@link #parse}} */
  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(MAGIC);
      out.writeUTF(engine);
      out.writeUTF(name);
      out.writeInt(metadata.length);
      out.write(metadata);
      out.writeInt(ranges.size());
      for (MemoryRange range : ranges) {
        out.writeLong(range.address());
        out.writeLong(range.bytes());
        out.writeUTF(range.location());
      }
      out.writeBoolean(instance.isPresent());
      if (instance.isPresent()) {
        out.writeLong(instance.get().startedMillis());
        out.writeLong(instance.get().tag());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Reads what {@link #toBytes} wrote.
   *
   * @param bytes from a peer; nothing about them is trusted
   * @return the descriptor
   * @throws IllegalArgumentException if they are cut short, have bytes left over, or hold what the constructor refuses
   */
  public static SegmentDescriptor parse(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (in.readInt() != MAGIC) throw new IllegalArgumentException("descriptor must begin with \"gTs2\"");
      String engine = in.readUTF();
      String name = in.readUTF();
      byte[] metadata = in.readNBytes(count("metadata", in.readInt(), Math.min(METADATA_MAX, in.available())));
      int size = count("ranges", in.readInt(), RANGES_MAX);
      List<MemoryRange> ranges = new ArrayList<>();
      for (int i = 0; i < size; i++)
        ranges.add(new MemoryRange(in.readLong(), in.readLong(), in.readUTF()));
      Optional<EngineInstance> instance = in.readBoolean()
          ? Optional.of(new EngineInstance(in.readLong(), in.readLong()))
          : Optional.empty();
      if (in.available() > 0) {
        throw new IllegalArgumentException("descriptor must end after its instance: " + in.available() + " bytes more");
      }
      return new SegmentDescriptor(engine, name, metadata, ranges, instance);
    } catch (IOException e) {
      throw new IllegalArgumentException("descriptor must be whole: cut short at " + bytes.length + " bytes", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SegmentDescriptor that && engine.equals(that.engine) && name.equals(that.name)
        && Arrays.equals(metadata, that.metadata) && ranges.equals(that.ranges)
        && instance.equals(that.instance);
  }

  @Override
  public int hashCode() {
    return 31 * name.hashCode() + ranges.hashCode();
  }

  @Override
  public String toString() {
    return engine + " segment " + name + " (" + ranges.size() + " ranges, " + metadata.length + " bytes of metadata)";
  }

  private static int count(String field, int value, int max) {
    if (value < 0 || value > max) throw new IllegalArgumentException(field + " must be 0 to " + max + ": " + value);
    return value;
  }

  private static String requireName(String name) {
    if (!name.isBlank() && name.length() <= NAME_MAX && name.chars().noneMatch(Character::isISOControl)) return name;
    throw new IllegalArgumentException("name must be 1 to " + NAME_MAX + " characters, none of control: \""
        + StoreAddresses.printable(name) + '"');
  }

  private static List<MemoryRange> sorted(List<MemoryRange> ranges) {
    if (ranges.size() > RANGES_MAX) {
      throw new IllegalArgumentException("ranges must be at most " + RANGES_MAX + ": " + ranges.size());
    }
    List<MemoryRange> sorted = new ArrayList<>(ranges);
    sorted.sort((a, b) -> Long.compareUnsigned(a.address(), b.address()));
    for (int i = 1; i < sorted.size(); i++) {
      MemoryRange before = sorted.get(i - 1);
      if (before.contains(sorted.get(i).address(), 1)) {
        throw new IllegalArgumentException("ranges must not overlap: " + before + " and " + sorted.get(i));
      }
    }
    return List.copyOf(sorted);
  }
}
