package dev.gatun.transfer;

import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.WeightEpoch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

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
  // 100 ms: a granter that has died is not started anew, with memory registered, within so short a time; unmeasured default
  private static final long FRESH_NANOS = 100_000_000;
  // "gTg5"
  private static final int MAGIC = 0x67546735;

  private final UUID id;
  private final Direction direction;
  private final WeightEpoch epoch;
  private final String layout;
  private final Told told;
  private final @Nullable UUID accepted;
  private final long pageBytes;
  private final long[] addresses;
  private final long heardNanos;

  Grant(UUID id, Direction direction, WeightEpoch epoch, String layout, Told told, @Nullable UUID accepted,
      long pageBytes, long[] addresses, long heardNanos) {
    if (pageBytes < 1) throw new IllegalArgumentException("pageBytes must be positive: " + pageBytes);
    requireBlocks(addresses.length);
    this.id = id;
    this.direction = direction;
    this.epoch = epoch;
    this.layout = HandoverMessage.requireLayout(layout);
    this.told = told;
    this.accepted = accepted;
    this.pageBytes = pageBytes;
    this.addresses = addresses;
    this.heardNanos = heardNanos;
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
    return told.descriptor();
  }

  /** {@return the granter's memory, and when it was so} */
  Told told() {
    return told;
  }

  /** {@return the attempt that may begin without asking, null if each must ask} */
  @Nullable
  UUID accepted() {
    return accepted;
  }

  /**
   * {@return whether the granter can be taken for the one that made it} One that was started anew under its name could have
   * other pages where a push writes; after a pull the granter is asked all the same.
   */
  boolean isFresh() {
    return direction == Direction.PULL || System.nanoTime() - heardNanos < FRESH_NANOS;
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
      byte[] where = told.toBytes();
      out.writeInt(where.length);
      out.write(where);
      out.writeBoolean(accepted != null);
      if (accepted != null) {
        out.writeLong(accepted.getMostSignificantBits());
        out.writeLong(accepted.getLeastSignificantBits());
      }
      out.writeLong(pageBytes);
      out.writeInt(addresses.length);
      ByteBuffer all = ByteBuffer.allocate(addresses.length * Long.BYTES);
      all.asLongBuffer().put(addresses);
      out.write(all.array());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Reads what {@link #toBytes} wrote. To be called when the bytes arrive, not later: how long a push has waited counts from
   * here.
   *
   * @param bytes from a peer; nothing about them is trusted
   * @return the grant
   * @throws IllegalArgumentException if they are cut short, have bytes left over, or hold what is out of range
   */
  public static Grant parse(byte[] bytes) {
    return parse(bytes, System.nanoTime());
  }

  static Grant parse(byte[] bytes, long heardNanos) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (in.readInt() != MAGIC) throw new IllegalArgumentException("grant must begin with \"gTg5\"");
      UUID id = new UUID(in.readLong(), in.readLong());
      Direction direction = in.readBoolean() ? Direction.PUSH : Direction.PULL;
      WeightEpoch epoch = new WeightEpoch(in.readUTF(), in.readLong());
      String layout = in.readUTF();
      Told told = Told.parse(in.readNBytes(within("segment", in.readInt(), 1, in)));
      UUID accepted = in.readBoolean() ? new UUID(in.readLong(), in.readLong()) : null;
      long pageBytes = in.readLong();
      long[] addresses = new long[within("blocks", requireBlocks(in.readInt()), Long.BYTES, in)];
      ByteBuffer.wrap(in.readNBytes(addresses.length * Long.BYTES)).asLongBuffer().get(addresses);
      if (in.available() > 0) {
        throw new IllegalArgumentException("grant must end after its blocks: " + in.available() + " bytes more");
      }
      return new Grant(id, direction, epoch, layout, told, accepted, pageBytes, addresses, heardNanos);
    } catch (IOException e) {
      throw new IllegalArgumentException("grant must be whole: cut short at " + bytes.length + " bytes", e);
    }
  }

  private static int requireBlocks(int blocks) {
    if (blocks >= 1 && blocks <= BLOCKS_MAX) return blocks;
    throw new IllegalArgumentException("blocks must be 1 to " + BLOCKS_MAX + ": " + blocks);
  }

  /** Nothing is allocated for what does not follow. */
  private static int within(String field, int count, int bytesEach, DataInputStream in) throws IOException {
    if (count < 0 || count > in.available() / bytesEach) {
      throw new IllegalArgumentException(field + " of " + bytesEach + " bytes each must fit into what follows, "
          + in.available() + " bytes: " + count);
    }
    return count;
  }

  @Override
  public String toString() {
    return direction + " of " + addresses.length + " blocks of " + epoch + ", hand-over " + id;
  }
}
