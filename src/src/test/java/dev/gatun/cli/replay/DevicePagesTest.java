package dev.gatun.cli.replay;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.replay.PageContent.Verdict;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages made and checked on a device are those that the host makes and checks. */
@SuppressWarnings("NullAway.Init")
class DevicePagesTest {
  private static final int PAGES = 5;
  private static final long VERSION = 3;

  private final EpochGate gate = new EpochGate(new WeightEpoch("test", VERSION));
  private final long[] blocks = new long[PAGES];
  private final PageList list = new PageList(blocks);
  private BlockPool pool;
  private DevicePages device;

  @BeforeEach
  void fillList() {
    list.clear(VERSION);
    long digest = PageContent.ROOT_DIGEST;
    for (int i = 0; i < PAGES; i++) {
      digest = PageContent.digest(digest, VERSION, 100 + i);
      list.add(digest, 100 + i);
    }
  }

  private void open(long pageBytes) {
    pool = BlockPool.allocate(new PoolLayout(pageBytes, PAGES, 64), gate);
    device = new DevicePages(ReplayDevice.HOST, pool, PAGES);
    for (int i = 0; i < PAGES; i++)
      blocks[i] = pool.lease();
  }

  @AfterEach
  void close() {
    for (long block : blocks)
      pool.release(block);
    device.close();
    pool.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {32, 40, 4096, 18_432, 8 * 10_007})
  @DisplayName("what the device makes, the host finds right, byte for byte; and the other way round")
  void sameContent(long pageBytes) {
    open(pageBytes);
    HostPages host = new HostPages(pool, PAGES);
    device.make(list);
    host.check(list);
    expect(host, Verdict.RIGHT);
    host.make(list);
    device.check(list);
    expect(device, Verdict.RIGHT);
  }

  @ParameterizedTest
  @ValueSource(longs = {40, 4096, 8 * 10_007})
  @DisplayName("a page of older weights is stale, one with a byte that differs is wrong, the others stay right")
  void judges(long pageBytes) {
    open(pageBytes);
    HostPages host = new HostPages(pool, PAGES);
    for (long place = 0; place < pageBytes; place += Math.max(1, pageBytes / 37)) {
      host.make(list);
      PageContent.fill(pool.rewrite(blocks[1]), 77, VERSION - 1, list.hashId(1));
      MemorySegment page = pool.rewrite(blocks[3]);
      PageContent.fill(page, list.digest(3), VERSION, list.hashId(3));
      page.set(JAVA_BYTE, place, (byte) ~page.get(JAVA_BYTE, place));
      for (ReplicaPages pages : new ReplicaPages[]{host, device}) {
        pages.check(list);
        assertEquals(Verdict.RIGHT, pages.verdict(0));
        assertEquals(Verdict.STALE, pages.verdict(1));
        assertEquals(77, pages.carriedDigest(1));
        assertEquals(Verdict.RIGHT, pages.verdict(2));
        assertEquals(Verdict.WRONG, pages.verdict(3), "byte " + place);
        assertEquals(Verdict.RIGHT, pages.verdict(4));
      }
    }
  }

  private void expect(ReplicaPages pages, Verdict verdict) {
    for (int i = 0; i < PAGES; i++) {
      assertEquals(verdict, pages.verdict(i), "page " + i);
      assertEquals(list.digest(i), pages.carriedDigest(i));
    }
  }
}
