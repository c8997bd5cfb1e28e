package dev.gatun.transfer;

import dev.gatun.backend.WeightEpoch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the two sides of a hand-over tell each other. A grant may be carried anew after a carrier has given up, and messages
 * may be late: so each names the attempt that it is about, and is without effect on any other.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record HandoverMessage(Kind kind, UUID id, UUID attempt, WeightEpoch epoch, byte[] payload) {
  enum Kind {
    /** Grantee: I am about to begin; the payload is {@link Told} of me. */
    ACCEPT,
    /** Granter: begin. */
    ACCEPTED,
    /** Granter: do not; also the answer to anything about a hand-over that it does not know. */
    REFUSED,
    /** Grantee: all bytes have landed, or are here; nothing of it moves any more. Is the grant still good? */
    COMMIT,
    /** Granter: it is, the pages are good. */
    CONFIRMED,
    /** Granter: it is not, or I do not know it. */
    CHANGED,
    /** Grantee: I have given up, and nothing of it moves any more. */
    ABORTED,
    /** Grantee: I have given up after a failure, and what the library had sent by then may still land. */
    LOST,
    /**
     * Granter: stop, and tell me when nothing moves any more; said again until {@link #ABORTED} or {@link #LOST} comes. The
     * payload is {@link Told} of me: who was restarted since does not know me.
     */
    REVOKE
  }

  // "gTh4": no text begins like this
  private static final int MAGIC = 0x67546834;
  private static final Pattern LAYOUT = Pattern.compile("[A-Za-z0-9._:+/=-]{1,128}");
  private static final Kind[] KINDS = Kind.values();

  static String requireLayout(String layout) {
    if (LAYOUT.matcher(layout).matches()) return layout;
    throw new IllegalArgumentException("layout must be a digest of 1 to 128 of [A-Za-z0-9._:+/=-]: \""
        + layout.replaceAll("\\p{Cntrl}", "?") + '"');
  }

  static HandoverMessage of(Kind kind, UUID id, UUID attempt, WeightEpoch epoch) {
    return new HandoverMessage(kind, id, attempt, epoch, new byte[0]);
  }

  /** {@return a message about the same attempt} */
  HandoverMessage answer(Kind answer) {
    return of(answer, id, attempt, epoch);
  }

  @SuppressWarnings("EnumOrdinal") // both sides are of one version: the magic says which
  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(MAGIC);
      out.writeByte(kind.ordinal());
      for (UUID name : List.of(id, attempt)) {
        out.writeLong(name.getMostSignificantBits());
        out.writeLong(name.getLeastSignificantBits());
      }
      out.writeUTF(epoch.run());
      out.writeLong(epoch.version());
      out.writeInt(payload.length);
      out.write(payload);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** {@return the message, null if the bytes are none of ours} */
  static @Nullable HandoverMessage decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (bytes.length < Integer.BYTES || in.readInt() != MAGIC) return null;
      int kind = in.readUnsignedByte();
      if (kind >= KINDS.length) return null;
      UUID id = new UUID(in.readLong(), in.readLong());
      UUID attempt = new UUID(in.readLong(), in.readLong());
      WeightEpoch epoch = new WeightEpoch(in.readUTF(), in.readLong());
      int length = in.readInt();
      if (length != in.available()) return null;
      return new HandoverMessage(KINDS[kind], id, attempt, epoch, in.readNBytes(length));
    } catch (IOException | IllegalArgumentException notOurs) {
      return null;
    }
  }
}
