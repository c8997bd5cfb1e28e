package dev.gatun.transfer.device;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.CacheShare;
import dev.gatun.device.CacheShare.Place;
import dev.gatun.device.HeadRange;
import dev.gatun.device.KvShape;
import dev.gatun.device.KvStrides;
import dev.gatun.device.SlabShare;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What travels between sender and receiver. */
class LinkMessageTest {
  private static final UUID ID = new UUID(1, 2);
  private static final WeightEpoch EPOCH = new WeightEpoch("run", 7);

  static List<LinkMessage> messages() {
    return List.of(new LinkMessage.Hello(ID, new PeerLife(17, 4711), EPOCH), new LinkMessage.Cache(share()),
        new LinkMessage.Ready(), new LinkMessage.Refused(PeerRefusedException.Reason.OTHER_PAGES, "two shapes"),
        new LinkMessage.Pages(ID, EPOCH, "request-7", new int[]{3, 1, 2}), new LinkMessage.Commit(ID),
        new LinkMessage.Verdict(ID, true), new LinkMessage.Revoke(ID), new LinkMessage.Aborted(ID, true, "why"),
        new LinkMessage.Detach(), new LinkMessage.Bye(), new LinkMessage.Ring("/proc/17/fd/3", ID),
        new LinkMessage.RingOpen(), new LinkMessage.RingNext());
  }

  private static CacheShare share() {
    KvShape shape = new KvShape(1, 2, 4, 8, 4, 2);
    List<SlabShare> slabs = List.of(new SlabShare(17, "00".repeat(16), "11".repeat(64), 256, 4096),
        new SlabShare(17, "00".repeat(16), "22".repeat(64), 0, 4096));
    return new CacheShare(slabs, shape, KvStrides.tokensFirst(shape), List.of(new Place(0, 64), new Place(1, 0)), 4, 0,
        new HeadRange(1, 2));
  }

  @ParameterizedTest
  @MethodSource("messages")
  @DisplayName("a message arrives as it was; one that is cut short anywhere, or goes on, is refused")
  void travels(LinkMessage sent) {
    byte[] bytes = sent.encode();
    LinkMessage arrived = LinkMessage.decode(bytes);
    if (sent instanceof LinkMessage.Pages pages) {
      LinkMessage.Pages same = (LinkMessage.Pages) arrived;
      assertEquals(List.of(pages.id(), pages.epoch(), pages.name()), List.of(same.id(), same.epoch(), same.name()));
      assertArrayEquals(pages.blocks(), same.blocks());
    } else {
      assertEquals(sent, arrived);
    }
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(IllegalArgumentException.class, () -> LinkMessage.decode(cut));
    }
    assertThrows(IllegalArgumentException.class, () -> LinkMessage.decode(Arrays.copyOf(bytes, bytes.length + 1)));
  }

  @ParameterizedTest
  @MethodSource("messages")
  @DisplayName("whatever bytes a peer sends, they are a message or refused as none: nothing else is thrown, nothing large made")
  void anyBytes(LinkMessage sent) {
    Random random = new Random(5);
    for (int round = 0; round < 2000; round++) {
      byte[] bytes = sent.encode();
      for (int flips = 0; flips <= random.nextInt(4); flips++)
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      try {
        LinkMessage.decode(bytes);
      } catch (IllegalArgumentException refused) {
        assertTrue(refused.getMessage() != null);
      }
    }
  }

  @Test
  @DisplayName("grants of no block, or under no name, are refused by name")
  void limits() {
    assertTrue(message(IllegalArgumentException.class,
        () -> LinkMessage.decode(new LinkMessage.Pages(ID, EPOCH, "a", new int[0]).encode()))
        .startsWith("blocks must be"));
    assertTrue(message(IllegalArgumentException.class,
        () -> LinkMessage.decode(new LinkMessage.Pages(ID, EPOCH, " ", new int[]{1}).encode()))
        .startsWith("name must be"));
    assertTrue(message(IllegalArgumentException.class,
        () -> new CacheShare(share().slabs(), share().shape(), share().strides(), List.of(new Place(2, 0)), 4, 0,
            share().heads()))
        .startsWith("places must lie in one of 2 slabs"));
  }
}
