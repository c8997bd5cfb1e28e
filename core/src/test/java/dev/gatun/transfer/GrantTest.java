package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Thrown;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Grants come from peers: nothing about their bytes is trusted. */
class GrantTest {
  private static final int BLOCKS = 3;

  private static byte[] bytes() {
    return bytes(null);
  }

  private static byte[] bytes(@Nullable UUID accepted) {
    Told told = new Told(new SegmentDescriptor(EngineOptions.LOOPBACK, "127.0.0.1:1", new byte[0], List.of(),
        Optional.of(new EngineInstance(5, 6))), 7);
    return new Grant(UUID.randomUUID(), Grant.Direction.PUSH, new WeightEpoch("run", 1), "layout", told, accepted,
        4096, new long[BLOCKS], 0).toBytes();
  }

  /** {@return a grant that claims another number of blocks, with so many bytes behind it} */
  private static byte[] claiming(int blocks, int bytesBehind) {
    byte[] bytes = bytes();
    int count = bytes.length - BLOCKS * Long.BYTES - Integer.BYTES;
    byte[] changed = Arrays.copyOf(bytes, count + Integer.BYTES + bytesBehind);
    ByteBuffer.wrap(changed).putInt(count, blocks);
    return changed;
  }

  private static String refusal(int blocks, int bytesBehind) {
    return Thrown.message(IllegalArgumentException.class, () -> Grant.parse(claiming(blocks, bytesBehind)));
  }

  @Test
  @DisplayName("a grant survives its bytes")
  void roundTrip() {
    byte[] bytes = bytes();
    assertArrayEquals(bytes, Grant.parse(bytes).toBytes());
    assertEquals(7, Grant.parse(bytes).told().millis());
    assertNull(Grant.parse(bytes).accepted());
    UUID attempt = UUID.randomUUID();
    assertEquals(attempt, Grant.parse(bytes(attempt)).accepted());
  }

  @Test
  @DisplayName("a number of blocks out of range is refused before anything is allocated for it, whatever follows")
  void blocks() {
    int above = Grant.BLOCKS_MAX + 1;
    assertEquals("blocks must be 1 to " + Grant.BLOCKS_MAX + ": " + above, refusal(above, above));
    assertEquals("blocks must be 1 to " + Grant.BLOCKS_MAX + ": -1", refusal(-1, 0));
    assertEquals("blocks must be 1 to " + Grant.BLOCKS_MAX + ": 0", refusal(0, 0));
  }

  @Test
  @DisplayName("a number of blocks that does not follow is refused before anything is allocated for it")
  void follows() {
    assertEquals("blocks of 8 bytes each must fit into what follows, 1000 bytes: 1000", refusal(1_000, 1_000));
    assertEquals(125, Grant.parse(claiming(125, 1_000)).blocks());
  }
}
