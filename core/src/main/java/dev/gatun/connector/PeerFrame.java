package dev.gatun.connector;

import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.transfer.Attempt;
import dev.gatun.transfer.Grant;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.UUID;

/** The bytes of a {@link PeerMessage}: a number that names its kind, then its fields in order. */
final class PeerFrame {
  static final int ROOM = 1;
  static final int FORGET = 2;
  static final int ASK = 3;
  static final int PAGES = 4;
  static final int DONE = 5;
  static final int REFUSED = 6;
  static final int HELLO = 7;
  static final int CONFIRM = 8;

  private PeerFrame() {}

  static PeerMessage decode(byte[] frame) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame));
    int kind = in.readUnsignedByte();
    PeerMessage message = switch (kind) {
      case ROOM -> new PeerMessage.Room(in.readUTF(), in.readUTF(), grant(in), in.readInt());
      case FORGET -> new PeerMessage.Forget(in.readUTF());
      case ASK -> new PeerMessage.Ask(in.readUTF(), in.readUTF(), epoch(in),
          in.readInt(), in.readInt(), attempt(in));
      case PAGES -> new PeerMessage.Pages(grant(in));
      case DONE -> new PeerMessage.Done();
      case REFUSED -> new PeerMessage.Refused(in.readUTF());
      case HELLO -> new PeerMessage.Hello(id(in), attempt(in));
      case CONFIRM -> new PeerMessage.Confirm(id(in),
          epoch(in), attempt(in));
      default -> throw new IllegalArgumentException("kind must be " + ROOM + " to " + CONFIRM + ": " + kind);
    };
    if (in.available() > 0) throw new IllegalArgumentException(in.available() + " bytes are left over");
    return message;
  }

  static void id(DataOutputStream out, UUID id) throws IOException {
    out.writeLong(id.getMostSignificantBits());
    out.writeLong(id.getLeastSignificantBits());
  }

  private static UUID id(DataInputStream in) throws IOException {
    return new UUID(in.readLong(), in.readLong());
  }

  static void epoch(DataOutputStream out, WeightEpoch epoch) throws IOException {
    out.writeUTF(epoch.run());
    out.writeLong(epoch.version());
  }

  private static WeightEpoch epoch(DataInputStream in) throws IOException {
    return new WeightEpoch(in.readUTF(), in.readLong());
  }

  static void attempt(DataOutputStream out, Attempt attempt) throws IOException {
    out.writeUTF(attempt.segment());
    out.writeLong(attempt.instance().startedMillis());
    out.writeLong(attempt.instance().tag());
    out.writeLong(attempt.line());
    out.writeLong(attempt.number());
  }

  private static Attempt attempt(DataInputStream in) throws IOException {
    return new Attempt(in.readUTF(), new EngineInstance(in.readLong(), in.readLong()), in.readLong(), in.readLong());
  }

  static void grant(DataOutputStream out, Grant grant) throws IOException {
    byte[] bytes = grant.toBytes();
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static Grant grant(DataInputStream in) throws IOException {
    int length = in.readInt();
    // what is announced must be there, so that a number alone cannot make us allocate
    if (length < 0 || length > in.available()) {
      throw new IllegalArgumentException("a grant must have 0 to " + in.available() + " bytes: " + length);
    }
    return Grant.parse(in.readNBytes(length));
  }
}
