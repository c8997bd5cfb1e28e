package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.always;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.testing.Thrown;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.function.Executable;

/** What is wrong is refused in Java, by name, before anything is sent. */
final class RefusalCases {
  private RefusalCases() {}

  static List<TransferCase> all() {
    return List.of(
        always("a remote address outside the registered range is refused, naming request and address",
            RefusalCases::ranges),
        always("a part outside the page is refused, naming request and values", RefusalCases::parts),
        always("K5.10 blocks of a pool that is not registered are refused on every protocol",
            RefusalCases::unregistered),
        always("a stale, foreign or null block is refused, naming the request, and nothing is sent",
            RefusalCases::blocks),
        always("a full, empty, closed or flying batch is refused", RefusalCases::batches),
        always("a segment that does not exist is refused with a code", RefusalCases::segments),
        always("K5.14 closing order: the engine lets go of 100 left-over registrations", RefusalCases::leftOver));
  }

  private static void ranges(TransferBench bench) {
    long mine = bench.here.filled(1);
    long base = bench.there.pool.slab().segment().address();
    long end = base + bench.there.pool.slab().byteSize();
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 4)) {
      for (long wrong : new long[]{0, 1, base - 1, end - TransferBench.PAGE_BYTES + 1, end, -1, Long.MIN_VALUE}) {
        refused("request 0: remoteAddress", () -> batch.write(mine, bench.peer, wrong));
        refused("0x" + Long.toHexString(wrong), () -> batch.read(mine, bench.peer, wrong));
      }
      assertEquals(0, batch.size());
      run(batch.write(mine, bench.peer, end - TransferBench.PAGE_BYTES));
    }
  }

  private static void parts(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.address(bench.there.filled(1));
    int page = TransferBench.PAGE_BYTES;
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 4)) {
      long[][] wrong = {{0, 0}, {0, -1}, {-1, 8}, {0, page + 1L}, {page, 1}, {1, page}, {Long.MAX_VALUE, 8},
          {8, Long.MAX_VALUE}};
      for (long[] part : wrong) {
        refused("offset " + part[0] + ", bytes " + part[1],
            () -> batch.write(mine, part[0], part[1], bench.peer, theirs));
        refused("request 0", () -> batch.read(mine, part[0], part[1], bench.peer, theirs));
      }
      assertEquals(0, batch.size());
    }
  }

  private static void unregistered(TransferBench bench) {
    try (BlockPool other = BlockPool.allocate(new PoolLayout(4096, 2, 0), bench.here.gate);
        BlockPool foreign = BlockPool.allocate(new PoolLayout(4096, 2, 0), bench.there.gate)) {
      refused("must be registered with engine", () -> bench.here.engine.batch(other, 1));
      refused("pool must be under the engine's gate", () -> bench.here.engine.batch(foreign, 1));
      bench.here.engine.register(other.slab());
      TransferBatch batch = bench.here.engine.batch(other, 1);
      long block = other.lease();
      batch.write(block, bench.peer, bench.there.address(bench.there.filled(1)));
      bench.here.engine.unregister(other.slab());
      assertThrows(ClosedException.class, batch::submit);
      batch.close();
      other.release(block);
    }
  }

  private static void blocks(TransferBench bench) {
    long theirs = bench.there.filled(7);
    long good = bench.here.filled(1);
    long gone = bench.here.filled(2);
    long empty = bench.here.lease();
    bench.here.pool.reserveNull(empty);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 4)) {
      refused("request 0: block must be a lease: 0", () -> batch.write(0, bench.peer, bench.there.address(theirs)));
      refused("", () -> batch.write(-1, bench.peer, bench.there.address(theirs)));
      refused("", () -> batch.write(theirs, bench.peer, bench.there.address(theirs)));
      batch.write(good, bench.peer, bench.there.address(theirs)).write(gone, bench.peer, bench.there.address(theirs));
      bench.here.release(gone);
      assertTrue(Thrown.message(IllegalStateException.class, batch::submit).contains("request 1"));
      batch.clear().write(good, bench.peer, bench.there.address(theirs)).write(empty, bench.peer,
          bench.there.address(theirs));
      // K10.10
      assertTrue(Thrown.message(IllegalStateException.class, batch::submit).contains("request 1"));
      batch.clear().read(good, bench.peer, bench.there.address(theirs)).write(good, bench.peer,
          bench.there.address(theirs));
      assertTrue(Thrown.message(IllegalStateException.class, batch::submit).contains("request 1"));
    }
    assertTrue(TransferBench.holds(bench.there.pool.page(theirs), 7));
    assertEquals(0, bench.here.pool.pending().size());
    assertEquals(bench.here.pool.pageBytes(), bench.here.pool.page(good).byteSize(), "it was read into by nothing");
    assertEquals(0, bench.peer.inFlight());
  }

  private static void batches(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.address(bench.there.filled(1));
    TransferEngine engine = bench.here.engine;
    refused("capacity", () -> engine.batch(bench.here.pool, 0));
    refused("capacity", () -> engine.batch(bench.here.pool, engine.capabilities().batchMax() + 1));
    TransferBatch batch = engine.batch(bench.here.pool, 1);
    assertThrows(IllegalStateException.class, batch::submit);
    assertThrows(IllegalStateException.class, () -> batch.await(TransferBench.deadline()));
    batch.write(mine, bench.peer, theirs);
    assertThrows(IllegalStateException.class, () -> batch.write(mine, bench.peer, theirs));
    batch.submit();
    assertThrows(IllegalStateException.class, batch::submit);
    assertThrows(IllegalStateException.class, batch::clear);
    assertThrows(IllegalStateException.class, batch::close);
    assertTrue(batch.await(TransferBench.deadline()));
    batch.close();
    batch.close();
    assertThrows(ClosedException.class, batch::submit);
    assertThrows(ClosedException.class, batch::clear);
    assertThrows(ClosedException.class, () -> batch.await(TransferBench.deadline()));
  }

  private static void segments(TransferBench bench) {
    SegmentDescriptor real = bench.there.engine.descriptor();
    SegmentDescriptor absent = new SegmentDescriptor(real.engine(), "127.0.0.1:1", new byte[0], real.ranges());
    assertThrows(EngineException.class, () -> bench.here.engine.openSegment(absent));
    String other = real.engine().equals(EngineOptions.LOOPBACK) ? EngineOptions.MOONCAKE : EngineOptions.LOOPBACK;
    refused("must be of engine", () -> bench.here.engine.openSegment(
        new SegmentDescriptor(other, real.name(), new byte[0], real.ranges())));
    for (String name : new String[]{"", " ", "a\0b", "x".repeat(SegmentDescriptor.NAME_MAX + 1)})
      refused("name", () -> new SegmentDescriptor(real.engine(), name, new byte[0], List.of()));
    Segment own = bench.there.engine.openSegment(bench.here.engine.descriptor());
    long mine = bench.here.filled(1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      refused("segment must be of this engine", () -> batch.write(mine, own, bench.here.address(mine)));
      Segment closed = bench.here.engine.openSegment(real);
      closed.close();
      assertThrows(ClosedException.class, () -> batch.write(mine, closed, real.ranges().getFirst().address()));
    }
  }

  private static void leftOver(TransferBench bench) {
    List<BlockPool> pools = new ArrayList<>();
    try (TransferBench.Side side = new TransferBench.Side(bench.subject, "left-over")) {
      for (int i = 0; i < 100; i++) {
        BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 1, 0), side.gate);
        side.engine.register(pool.slab());
        pools.add(pool);
      }
      assertEquals(101, side.engine.registrations());
    }
    // each refuses to be closed while it is registered
    pools.forEach(BlockPool::close);
  }

  private static void refused(String part, Executable call) {
    String message = String.valueOf(assertThrows(IllegalArgumentException.class, call).getMessage());
    assertTrue(message.contains(part), () -> message + " says " + part);
  }
}
