package dev.gatun.transfer.device;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.CacheShare;
import dev.gatun.device.PagedKvLayout;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/** What receiver and sender of device pages say to each other. */
sealed interface LinkMessage {
  /** Most blocks of a grant: the pages of a long prompt; a bound against nonsense. */
  int BLOCKS_MAX = 1 << 20;
  int NAME_MAX = 256;

  /** Either side, first: who it is. */
  record Hello(UUID instance, PeerLife life, WeightEpoch epoch) implements LinkMessage {}

  /** Receiver: this is my memory. */
  record Cache(CacheShare share) implements LinkMessage {}

  /** Sender: I have it open. */
  record Ready() implements LinkMessage {}

  /** Sender: I do not take part. */
  record Refused(PeerRefusedException.Reason reason, String text) implements LinkMessage {}

  /** Receiver: write what you offer under this name into these blocks. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Pages(UUID id, WeightEpoch epoch, String name, int[] blocks) implements LinkMessage {}

  /** Sender: all of it has arrived, and nothing of it moves any more. Is the grant still good? */
  record Commit(UUID id) implements LinkMessage {}

  /** Receiver: whether it was. */
  record Verdict(UUID id, boolean good) implements LinkMessage {}

  /** Receiver: stop, and say when nothing moves any more. */
  record Revoke(UUID id) implements LinkMessage {}

  /** Sender: I have not, or have given up, and nothing of it moves any more. */
  record Aborted(UUID id, boolean refused, String text) implements LinkMessage {}

  /** Receiver: close my memory. */
  record Detach() implements LinkMessage {}

  /** Sender, last: your memory is closed, nothing of mine can reach it. */
  record Bye() implements LinkMessage {}

  /** Either side's channel, before anything else: what I say may go through this memory, if you can open it. */
  record Ring(String path, UUID token) implements LinkMessage {}

  /** Either side's channel: I have it open. */
  record RingOpen() implements LinkMessage {}

  /** Either side's channel, the last of it through the socket: what I say next comes through the memory. */
  record RingNext() implements LinkMessage {}

  // "gTd1"
  int MAGIC = 0x67546431;

  /** {@return it as bytes, the kind first} */
  default byte[] encode() {
    int listBytes = this instanceof Pages pages ? pages.blocks.length * Integer.BYTES : 0;
    // ids, epoch and a name take less than 1 KiB
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(listBytes + 1024);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private void write(DataOutputStream out) throws IOException {
    switch (this) {
      case Hello hello -> {
        out.writeByte(0);
        out.writeInt(MAGIC);
        writeId(out, hello.instance);
        out.writeLong(hello.life.pid());
        out.writeLong(hello.life.startTicks());
        writeEpoch(out, hello.epoch);
      }
      case Cache cache -> {
        out.writeByte(1);
        byte[] share = cache.share.encode();
        out.writeInt(share.length);
        out.write(share);
      }
      case Ready ready -> out.writeByte(2);
      case Refused refused -> {
        out.writeByte(3);
        out.writeUTF(refused.reason.name());
        writeText(out, refused.text);
      }
      case Pages pages -> {
        out.writeByte(4);
        writeId(out, pages.id);
        writeEpoch(out, pages.epoch);
        out.writeUTF(pages.name);
        out.writeInt(pages.blocks.length);
        ByteBuffer blocks = ByteBuffer.allocate(pages.blocks.length * Integer.BYTES);
        blocks.asIntBuffer().put(pages.blocks);
        out.write(blocks.array());
      }
      case Commit commit -> writeId(out, 5, commit.id);
      case Verdict verdict -> {
        writeId(out, 6, verdict.id);
        out.writeBoolean(verdict.good);
      }
      case Revoke revoke -> writeId(out, 7, revoke.id);
      case Aborted aborted -> {
        writeId(out, 8, aborted.id);
        out.writeBoolean(aborted.refused);
        writeText(out, aborted.text);
      }
      case Detach detach -> out.writeByte(9);
      case Bye bye -> out.writeByte(10);
      case Ring ring -> {
        writeId(out, 11, ring.token);
        out.writeUTF(ring.path);
      }
      case RingOpen open -> out.writeByte(12);
      case RingNext next -> out.writeByte(13);
    }
  }

  /**
   * {@return what {@link #encode} wrote}
   *
   * @param bytes from a peer; nothing about them is trusted
   * @throws IllegalArgumentException if they are something else
   */
  static LinkMessage decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      LinkMessage message = read(in);
      if (in.available() > 0) {
        throw new IllegalArgumentException("message must end where it ends: " + in.available() + " bytes more");
      }
      return message;
    } catch (IOException e) {
      throw new IllegalArgumentException("message must be whole: cut short at " + bytes.length + " bytes", e);
    }
  }

  private static LinkMessage read(DataInputStream in) throws IOException {
    int kind = in.readUnsignedByte();
    return switch (kind) {
      case 0 -> readHello(in);
      case 1 -> new Cache(CacheShare.decode(in.readNBytes(within("share", in.readInt(), 1, in))));
      case 2 -> new Ready();
      case 3 -> new Refused(PeerRefusedException.Reason.valueOf(in.readUTF()), in.readUTF());
      case 4 -> readPages(in);
      case 5 -> new Commit(readId(in));
      case 6 -> new Verdict(readId(in), in.readBoolean());
      case 7 -> new Revoke(readId(in));
      case 8 -> new Aborted(readId(in), in.readBoolean(), in.readUTF());
      case 9 -> new Detach();
      case 10 -> new Bye();
      case 11 -> readRing(in);
      case 12 -> new RingOpen();
      case 13 -> new RingNext();
      default -> throw new IllegalArgumentException("message must be of a kind 0 to 13: " + kind);
    };
  }

  private static Hello readHello(DataInputStream in) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new IllegalArgumentException("hello must begin with \"gTd1\": 0x" + Integer.toHexString(magic));
    }
    return new Hello(readId(in), new PeerLife(in.readLong(), in.readLong()), readEpoch(in));
  }

  private static Ring readRing(DataInputStream in) throws IOException {
    UUID token = readId(in);
    return new Ring(in.readUTF(), token);
  }

  private static Pages readPages(DataInputStream in) throws IOException {
    UUID id = readId(in);
    WeightEpoch epoch = readEpoch(in);
    String name = requireName(in.readUTF());
    int[] blocks = new int[requireBlocks(within("blocks", in.readInt(), Integer.BYTES, in))];
    ByteBuffer.wrap(in.readNBytes(blocks.length * Integer.BYTES)).asIntBuffer().get(blocks);
    return new Pages(id, epoch, name, blocks);
  }

  static int requireBlocks(int blocks) {
    if (blocks >= 1 && blocks <= BLOCKS_MAX) return blocks;
    throw new IllegalArgumentException("blocks must be 1 to " + BLOCKS_MAX + ": " + blocks);
  }

  static void requireBlock(int block, PagedKvLayout layout) {
    if (block >= 0 && block < layout.blocks() && block != layout.nullBlock()) return;
    throw new IllegalArgumentException("blocks must be of " + layout.blocks() + " and not the null block: " + block);
  }

  static String requireName(String name) {
    if (!name.isBlank() && name.length() <= NAME_MAX) return name;
    throw new IllegalArgumentException("name must be 1 to " + NAME_MAX + " characters: \"" + name + '"');
  }

  /** Nothing is allocated for what does not follow. */
  private static int within(String field, int count, int bytesEach, DataInputStream in) throws IOException {
    if (count >= 0 && count <= in.available() / bytesEach) return count;
    throw new IllegalArgumentException(
        field + " must fit into the " + in.available() + " bytes that follow: " + count);
  }

  private static void writeId(DataOutputStream out, int kind, UUID id) throws IOException {
    out.writeByte(kind);
    writeId(out, id);
  }

  private static void writeId(DataOutputStream out, UUID id) throws IOException {
    out.writeLong(id.getMostSignificantBits());
    out.writeLong(id.getLeastSignificantBits());
  }

  private static UUID readId(DataInputStream in) throws IOException {
    return new UUID(in.readLong(), in.readLong());
  }

  private static void writeEpoch(DataOutputStream out, WeightEpoch epoch) throws IOException {
    out.writeUTF(epoch.run());
    out.writeLong(epoch.version());
  }

  private static WeightEpoch readEpoch(DataInputStream in) throws IOException {
    return new WeightEpoch(in.readUTF(), in.readLong());
  }

  /** Texts are for people: a long one is cut. */
  private static void writeText(DataOutputStream out, String text) throws IOException {
    out.writeUTF(text.length() <= 4000 ? text : text.substring(0, 4000));
  }
}
