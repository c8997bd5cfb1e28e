package dev.gatun.transfer;

import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.WeightEpoch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.UUID;

/**
 * What one side lets the other do with its blocks: fill them (push) or read them (pull). Handed over out of band.
 * Immutable.
 */
public final class Grant {
  /** Which way the bytes go. */
  public enum Direction {
    /** The grantee writes into the granted blocks. */
    PUSH,
    /** The grantee reads the granted blocks. */
    PULL
  }

  /** Most blocks of one grant: what a bootstrap body of some megabytes holds. */
  public static final int BLOCKS_MAX = 1 << 20;
  // "gTg1"
  private static final int MAGIC = 0x67546731;

  private final UUID id;
  private final Direction direction;
  private final WeightEpoch epoch;
  private final String layout;
  private final SegmentDescriptor segment;
  private final long pageBytes;
  private final long[] addresses;

  Grant(UUID id, Direction direction, WeightEpoch epoch, String layout, SegmentDescriptor segment, long pageBytes,
      long[] addresses) {
    if (pageBytes < 1) throw new IllegalArgumentException("pageBytes must be positive: " + pageBytes);
    if (addresses.length < 1 || addresses.length > BLOCKS_MAX) {
      throw new IllegalArgumentException("blocks must be 1 to " + BLOCKS_MAX + ": " + addresses.length);
    }
    this.id = id;
    this.direction = direction;
    this.epoch = epoch;
    this.layout = HandoverMessage.requireLayout(layout);
    this.segment = segment;
    this.pageBytes = pageBytes;
    this.addresses = addresses;
  }

  /** {@return the hand-over's number, unique in the world} */
  public UUID id() {
    return id;
  }

  /** {@return which way the bytes go} */
  public Direction direction() {
    return direction;
  }

  /** {@return the epoch of the pages; both sides must have it in force} */
  public WeightEpoch epoch() {
    return epoch;
  }

  /** {@return digest of the layout of a page; both sides must have the same} */
  public String layout() {
    return layout;
  }

  /** {@return the granter's memory} */
  public SegmentDescriptor segment() {
    return segment;
  }

  /** {@return bytes a page} */
  public long pageBytes() {
    return pageBytes;
  }

  /** {@return number of blocks} */
  public int blocks() {
    return addresses.length;
  }

  /**
   * {@return absolute address of a page in the granter}
   *
   * @param index place of the block
   */
  public long address(int index) {
    return addresses[index];
  }

  /** {@return the grant as bytes, for {@link #parse}} */
  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(MAGIC);
      out.writeLong(id.getMostSignificantBits());
      out.writeLong(id.getLeastSignificantBits());
      out.writeBoolean(direction == Direction.PUSH);
      out.writeUTF(epoch.run());
      out.writeLong(epoch.version());
      out.writeUTF(layout);
      byte[] where = segment.toBytes();
      out.writeInt(where.length);
      out.write(where);
      out.writeLong(pageBytes);
      out.writeInt(addresses.length);
      for (long address : addresses)
        out.writeLong(address);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Reads what {@link #toBytes} wrote.
   *
   * @param bytes from a peer; nothing about them is trusted
   * @return the grant
   * @throws IllegalArgumentException if they are cut short, have bytes left over, or hold what is out of range
   */
  public static Grant parse(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (in.readInt() != MAGIC) throw new IllegalArgumentException("grant must begin with \"gTg1\"");
      UUID id = new UUID(in.readLong(), in.readLong());
      Direction direction = in.readBoolean() ? Direction.PUSH : Direction.PULL;
      WeightEpoch epoch = new WeightEpoch(in.readUTF(), in.readLong());
      String layout = in.readUTF();
      SegmentDescriptor segment = SegmentDescriptor.parse(in.readNBytes(within("segment", in.readInt(), in)));
      long pageBytes = in.readLong();
      long[] addresses = new long[within("blocks", in.readInt(), in)];
      for (int i = 0; i < addresses.length; i++)
        addresses[i] = in.readLong();
      if (in.available() > 0) {
        throw new IllegalArgumentException("grant must end after its blocks: " + in.available() + " bytes more");
      }
      return new Grant(id, direction, epoch, layout, segment, pageBytes, addresses);
    } catch (IOException e) {
      throw new IllegalArgumentException("grant must be whole: cut short at " + bytes.length + " bytes", e);
    }
  }

  private static int within(String field, int value, DataInputStream in) throws IOException {
    if (value < 0 || value > in.available()) {
      throw new IllegalArgumentException(field + " must fit into what follows, " + in.available() + ": " + value);
    }
    return value;
  }

  @Override
  public String toString() {
    return direction + " of " + addresses.length + " blocks of " + epoch + ", hand-over " + id;
  }
}
