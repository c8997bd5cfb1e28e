package dev.gatun.transfer.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.internal.ffm.SharedFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class LinkRingTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final LinkRing writer = Objects.requireNonNull(LinkRing.create());
  private final LinkRing reader = Objects.requireNonNull(LinkRing.open(writer.path(), writer.token()));

  @AfterEach
  void close() {
    reader.close();
    writer.close();
  }

  @Test
  @DisplayName("bytes come as they went, in pieces of any size, while one thread writes and another reads")
  void stream() throws Exception {
    byte[] sent = new byte[3_000_000]; // many times around
    new Random(1).nextBytes(sent);
    CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> write(sent));
    byte[] received = new byte[sent.length];
    Random sizes = new Random(2);
    for (int at = 0; at < received.length;)
      at += reader.read(ByteBuffer.wrap(received, at, Math.min(1 + sizes.nextInt(9000), received.length - at)));
    writing.get();
    assertArrayEquals(sent, received);
    assertTrue(reader.isEmpty());
  }

  private void write(byte[] sent) {
    Random sizes = new Random(3);
    try {
      for (int at = 0; at < sent.length;) {
        ByteBuffer piece = ByteBuffer.wrap(sent, at, Math.min(1 + sizes.nextInt(9000), sent.length - at));
        writer.write(piece);
        at = piece.position();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @DisplayName("what is full takes nothing more, and takes what was refused once there is room")
  void full() throws IOException {
    ByteBuffer more = ByteBuffer.allocate(1 << 20);
    writer.write(more);
    int taken = more.position();
    assertTrue(taken > 0 && more.hasRemaining());
    writer.write(more);
    assertEquals(taken, more.position());
    assertEquals(100, reader.read(ByteBuffer.allocate(100)));
    writer.write(more);
    assertEquals(taken + 100, more.position());
  }

  @ParameterizedTest
  @ValueSource(longs = {-(1 << 20), Long.MIN_VALUE, Long.MAX_VALUE, 1 << 20})
  @DisplayName("a peer that says it has written or read what cannot be is an error, and nothing beyond the ring is touched")
  void broken(long nonsense) throws IOException {
    SharedFile.map(writer.path(), Arena.ofAuto()).set(JAVA_LONG, LinkRing.WRITTEN, nonsense);
    assertThrows(IOException.class, () -> reader.read(ByteBuffer.allocate(10)));
    SharedFile.map(writer.path(), Arena.ofAuto()).set(JAVA_LONG, LinkRing.READ, nonsense);
    assertThrows(IOException.class, () -> writer.write(ByteBuffer.allocate(10)));
  }

  @Test
  @DisplayName("memory of another ring, of a closed one, of none, or a file by another path is not opened")
  void notOpened() throws IOException {
    assertNull(LinkRing.open(writer.path(), UUID.randomUUID()));
    assertNull(LinkRing.open("/etc/passwd", writer.token()));
    assertNull(LinkRing.open("/proc/self/fd/0", writer.token()));
    assertNull(LinkRing.open("/proc/" + ProcessHandle.current().pid() + "/fd/1000000", writer.token()));
    try (SharedFile small = SharedFile.create("small", 8, Arena.ofAuto())) {
      assertNull(LinkRing.open(small.path(), writer.token()));
    }
    String path = writer.path();
    UUID token = writer.token();
    writer.close();
    assertNull(LinkRing.open(path, token));
  }

  @Test
  @DisplayName("memory that a peer could cut off, which would be a fault here, is not opened, and ours cannot be cut off")
  void fixed() throws IOException {
    Path file = folder.resolve("ring");
    try (RandomAccessFile from = new RandomAccessFile(writer.path(), "rw");
        RandomAccessFile copy = new RandomAccessFile(file.toFile(), "rw")) {
      byte[] bytes = new byte[(int) from.length()];
      from.readFully(bytes);
      copy.write(bytes); // the same size and token
      assertNull(LinkRing.open(pathOf(file), writer.token()));
      assertThrows(IOException.class, () -> from.setLength(0));
    }
  }

  /** {@return by which a file is reached that this process has open} */
  private static String pathOf(Path file) throws IOException {
    String own = "/proc/" + ProcessHandle.current().pid() + "/fd";
    try (Stream<Path> open = Files.list(Path.of(own))) {
      return open.filter(descriptor -> leadsTo(descriptor, file)).findFirst().orElseThrow().toString();
    }
  }

  private static boolean leadsTo(Path descriptor, Path file) {
    try {
      return Files.readSymbolicLink(descriptor).equals(file);
    } catch (IOException closed) {
      return false;
    }
  }

  @Test
  @DisplayName("a side that is closed says so and does not sleep; the other goes on with what it has open")
  void closed() throws IOException {
    reader.setAsleep(true);
    writer.write(ByteBuffer.allocate(3));
    writer.close();
    writer.close();
    assertThrows(IOException.class, () -> writer.write(ByteBuffer.allocate(1)));
    assertFalse(writer.isReaderAsleep());
    assertEquals(3, reader.read(ByteBuffer.allocate(10)));
    assertTrue(reader.isEmpty());
    reader.close();
    assertFalse(reader.isEmpty());
    reader.setAsleep(true);
    assertThrows(IOException.class, () -> reader.read(ByteBuffer.allocate(1)));
  }

  @Test
  @DisplayName("a reader that is about to sleep is seen, and sees what came before")
  void sleep() throws IOException {
    assertFalse(writer.isReaderAsleep());
    reader.setAsleep(true);
    assertTrue(writer.isReaderAsleep() && reader.isEmpty());
    writer.write(ByteBuffer.allocate(1));
    assertFalse(reader.isEmpty());
    reader.setAsleep(false);
    assertFalse(writer.isReaderAsleep());
  }
}
