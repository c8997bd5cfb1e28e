package dev.gatun.connector;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Thrown;
import dev.gatun.transfer.Attempt;
import dev.gatun.transfer.Grant;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What worker sides say to each other, as bytes. */
class PeerMessageTest {
  private static final Attempt ATTEMPT = new Attempt("engine", new EngineInstance(12, 13), 14, 15);
  private static final PeerMessage.Ask ASK = new PeerMessage.Ask("x", "layout", new WeightEpoch("run", 3), 1, 9,
      ATTEMPT);

  @Test
  @DisplayName("what is written is read, one message after the other")
  void roundTrips() throws IOException {
    List<PeerMessage> messages = List.of(ASK, new PeerMessage.Forget("y"), new PeerMessage.Done(),
        new PeerMessage.Refused("why"), new PeerMessage.Hello(new UUID(1, 2), ATTEMPT),
        new PeerMessage.Confirm(new UUID(3, 4), new WeightEpoch("run", 5), ATTEMPT));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (PeerMessage message : messages)
      PeerMessage.write(new DataOutputStream(bytes), message);
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    for (PeerMessage message : messages)
      assertEquals(message, PeerMessage.read(in));
    assertEquals(-1, in.read());
  }

  @Test
  @DisplayName("messages that carry a grant are read with it")
  void grants() throws IOException {
    PeerMessage.Room room = new PeerMessage.Room("x", "layout", grant(2), 7);
    PeerMessage.Room readRoom = (PeerMessage.Room) again(room);
    assertEquals("x layout 7", readRoom.transferId() + ' ' + readRoom.layout() + ' ' + readRoom.from());
    assertArrayEquals(room.grant().toBytes(), readRoom.grant().toBytes());
    PeerMessage.Pages pages = new PeerMessage.Pages(grant(1));
    assertArrayEquals(pages.grant().toBytes(), ((PeerMessage.Pages) again(pages)).grant().toBytes());
  }

  private static PeerMessage again(PeerMessage message) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PeerMessage.write(new DataOutputStream(bytes), message);
    return PeerMessage.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
  }

  /** {@return a grant as a peer hands it over, written by hand: nobody makes one without an engine} */
  private static Grant grant(int blocks) {
    byte[] segment = new SegmentDescriptor(EngineOptions.LOOPBACK, "127.0.0.1:1", new byte[0], List.of(),
        Optional.of(new EngineInstance(12, 13))).toBytes();
    ByteBuffer bytes = ByteBuffer.allocate(1_024).putInt(0x67546735).putLong(1).putLong(2).put((byte) 1);
    bytes.putShort((short) 3).put("run".getBytes(US_ASCII)).putLong(5);
    bytes.putShort((short) 6).put("digest".getBytes(US_ASCII));
    bytes.putInt(Long.BYTES + segment.length).putLong(11).put(segment).put((byte) 0);
    bytes.putLong(4_096).putInt(blocks);
    for (int i = 0; i < blocks; i++)
      bytes.putLong(i * 4_096L);
    return Grant.parse(Arrays.copyOf(bytes.array(), bytes.position()));
  }

  @Property
  @Label("any bytes of a stranger end in a message or in an IOException, whatever length they announce")
  void anyBytes(@ForAll @Size(max = 64) byte[] frame, @ForAll int announced) {
    tryToRead(announced, frame);
    tryToRead(frame.length, frame);
  }

  @Property
  @Label("a message that was changed in a byte or cut short ends in a message or in an IOException")
  void changed(@ForAll @IntRange(max = 300) int at, @ForAll byte value, @ForAll @IntRange(max = 2) int which)
      throws IOException {
    PeerMessage message = List
        .of(ASK, new PeerMessage.Room("x", "layout", grant(2), 7), new PeerMessage.Pages(grant(1))).get(which);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PeerMessage.write(new DataOutputStream(bytes), message);
    byte[] frame = Arrays.copyOfRange(bytes.toByteArray(), Integer.BYTES, bytes.size());
    byte[] changed = frame.clone();
    changed[at % frame.length] = value;
    tryToRead(changed.length, changed);
    tryToRead(at % frame.length, Arrays.copyOf(frame, at % frame.length));
  }

  @Test
  @DisplayName("a length that no message has is refused before anything is allocated")
  void lengths() {
    for (int length : new int[]{0, -1, PeerMessage.FRAME_BYTES_MAX + 1, Integer.MAX_VALUE}) {
      String message = Thrown.message(IOException.class, () -> read(length, new byte[8]));
      assertTrue(message.startsWith("frame must have 1 to "), message);
    }
  }

  private static void tryToRead(int announced, byte[] frame) {
    try {
      read(announced, frame);
    } catch (IOException refused) {
      // the only way in which it may fail
    }
  }

  private static PeerMessage read(int announced, byte[] frame) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(announced);
    out.write(frame);
    return PeerMessage.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
  }
}
