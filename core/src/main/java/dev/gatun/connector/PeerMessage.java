package dev.gatun.connector;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.transfer.Attempt;
import dev.gatun.transfer.Grant;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/** What the worker sides of two engines say to each other about a hand-over, in frames over TCP. */
sealed interface PeerMessage {
  /**
   * The first word of a worker side on every connection.
   *
   * @param instance who it is: started anew on the same port it is another
   * @param attempt what the first push into room that is asked for on this connection will be
   */
  record Hello(UUID instance, Attempt attempt) implements PeerMessage {}

  /**
   * Decode to prefill: push into these blocks. Answered with {@link Done} once all has landed.
   *
   * @param transferId of the hand-over
   * @param layout what a page is, see {@link P2pOptions#layout}
   * @param grant the blocks to be written, of what epoch
   * @param from place of the first of them in the request
   */
  record Room(String transferId, String layout, Grant grant, int from) implements PeerMessage {}

  /** Decode to prefill: nobody wants it any more. */
  record Forget(String transferId) implements PeerMessage {}

  /**
   * Decode to prefill: let me read blocks {@code from} to {@code to} of a request, in this attempt. Answered with
   * {@link Pages}.
   */
  record Ask(String transferId, String layout, WeightEpoch epoch, int from, int to, Attempt attempt)
      implements
        PeerMessage {}

  /** Decode to prefill: I have read all of a grant. Is it still what was offered? Answered with {@link Done} if so. */
  record Confirm(UUID grant, WeightEpoch epoch, Attempt attempt) implements PeerMessage {}

  /** Prefill to decode: here they are. */
  record Pages(Grant grant) implements PeerMessage {}

  /** It is done, and as wanted. */
  record Done() implements PeerMessage {}

  /** It is not done. */
  record Refused(String reason) implements PeerMessage {}

  // 64 MiB: a grant of the most blocks there can be, and the metadata of an agent with hundreds of regions
  int FRAME_BYTES_MAX = 64 << 20;

  /** Writes the message as one frame. */
  static void write(DataOutputStream out, PeerMessage message) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    encode(new DataOutputStream(bytes), message);
    // in one piece: whoever reads is woken once
    out.write(ByteBuffer.allocate(Integer.BYTES + bytes.size()).putInt(bytes.size()).put(bytes.toByteArray()).array());
    out.flush();
  }

  /** Reads one frame; refuses, as an {@link IOException}, what is none. */
  static PeerMessage read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 1 || length > FRAME_BYTES_MAX) {
      throw new IOException("frame must have 1 to " + FRAME_BYTES_MAX + " bytes: " + length);
    }
    byte[] frame = in.readNBytes(length);
    if (frame.length < length) throw new IOException("the peer ended in the middle of a message");
    try {
      return PeerFrame.decode(frame);
    } catch (IllegalArgumentException e) {
      throw new IOException("the peer's message is malformed: " + e.getMessage(), e);
    }
  }

  private static void encode(DataOutputStream out, PeerMessage message) throws IOException {
    switch (message) {
      case Hello hello -> {
        out.writeByte(PeerFrame.HELLO);
        PeerFrame.id(out, hello.instance);
        PeerFrame.attempt(out, hello.attempt);
      }
      case Room room -> {
        out.writeByte(PeerFrame.ROOM);
        out.writeUTF(room.transferId);
        out.writeUTF(room.layout);
        PeerFrame.grant(out, room.grant);
        out.writeInt(room.from);
      }
      case Forget forget -> {
        out.writeByte(PeerFrame.FORGET);
        out.writeUTF(forget.transferId);
      }
      case Ask ask -> {
        out.writeByte(PeerFrame.ASK);
        out.writeUTF(ask.transferId);
        out.writeUTF(ask.layout);
        PeerFrame.epoch(out, ask.epoch);
        out.writeInt(ask.from);
        out.writeInt(ask.to);
        PeerFrame.attempt(out, ask.attempt);
      }
      case Confirm confirm -> {
        out.writeByte(PeerFrame.CONFIRM);
        PeerFrame.id(out, confirm.grant);
        PeerFrame.epoch(out, confirm.epoch);
        PeerFrame.attempt(out, confirm.attempt);
      }
      case Pages pages -> {
        out.writeByte(PeerFrame.PAGES);
        PeerFrame.grant(out, pages.grant);
      }
      case Done done -> out.writeByte(PeerFrame.DONE);
      case Refused refused -> {
        out.writeByte(PeerFrame.REFUSED);
        out.writeUTF(refused.reason);
      }
    }
  }
}
