package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.holds;
import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.always;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Bytes go where they are sent. */
final class MoveCases {
  private MoveCases() {}

  static List<TransferCase> all() {
    return List.of(
        always("a write puts a page into the peer's memory, and nothing beside it", MoveCases::write),
        always("a read fetches a page from the peer's memory", MoveCases::read),
        always("a batch of reads and writes goes out together and tells each outcome by index", MoveCases::mixed),
        always("a batch is used again and again", MoveCases::again),
        always("parts of a page travel alone; reads into one block side by side share its mark", MoveCases::parts),
        always("a future ends with the batch", MoveCases::future),
        always("an engine reaches its own memory", MoveCases::own),
        always("a descriptor survives its bytes", MoveCases::descriptor),
        always("K5.02 8,000 blocks of one slab cost one registration", MoveCases::oneRegistration));
  }

  private static void write(TransferBench bench) {
    long source = bench.here.filled(1);
    long before = bench.there.filled(2);
    long target = bench.there.filled(3);
    long after = bench.there.filled(4);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 4)) {
      run(batch.write(source, bench.peer, bench.there.address(target)));
    }
    assertTrue(holds(bench.there.pool.page(target), 1));
    assertTrue(holds(bench.there.pool.page(before), 2));
    assertTrue(holds(bench.there.pool.page(after), 4));
    assertTrue(holds(bench.here.pool.page(source), 1));
  }

  private static void read(TransferBench bench) {
    long source = bench.there.filled(5);
    long target = bench.here.filled(6);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 4)) {
      run(batch.read(target, bench.peer, bench.there.address(source)));
    }
    assertTrue(holds(bench.here.pool.page(target), 5));
  }

  private static void mixed(TransferBench bench) {
    long[] mine = new long[32];
    long[] theirs = new long[32];
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 32)) {
      for (int i = 0; i < 32; i++) {
        mine[i] = bench.here.filled(i);
        theirs[i] = bench.there.filled(100 + i);
        if (i % 2 == 0) batch.write(mine[i], bench.peer, bench.there.address(theirs[i]));
        else
          batch.read(mine[i], bench.peer, bench.there.address(theirs[i]));
      }
      run(batch);
    }
    for (int i = 0; i < 32; i++) {
      int seed = i % 2 == 0 ? i : 100 + i;
      assertTrue(holds(bench.here.pool.page(mine[i]), seed), "here " + i);
      assertTrue(holds(bench.there.pool.page(theirs[i]), seed), "there " + i);
    }
  }

  private static void again(TransferBench bench) {
    long mine = bench.here.filled(0);
    long theirs = bench.there.filled(0);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      for (int round = 1; round <= 100; round++) {
        TransferBench.fill(bench.here.pool.rewrite(mine), round);
        run(batch.clear().write(mine, bench.peer, bench.there.address(theirs)));
        assertTrue(holds(bench.there.pool.page(theirs), round), "round " + round);
      }
      assertEquals(0, bench.peer.inFlight());
    }
  }

  private static void parts(TransferBench bench) {
    long target = bench.here.filled(1);
    long source = bench.there.filled(7);
    int half = TransferBench.PAGE_BYTES / 2;
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 2)) {
      run(batch.read(target, half, half, bench.peer, bench.there.address(source) + half)
          .read(target, 0, half, bench.peer, bench.there.address(source)));
      assertTrue(holds(bench.here.pool.page(target), 7));
      TransferBench.fill(bench.here.pool.rewrite(target), 8);
      run(batch.clear().write(target, 8, 16, bench.peer, bench.there.address(source) + 8));
    }
    MemorySegment page = bench.there.pool.page(source);
    assertEquals(-1, page.asSlice(8, 16).mismatch(bench.here.pool.page(target).asSlice(8, 16)));
    assertFalse(holds(page, 8));
    page.asSlice(8, 16).copyFrom(filledPart(7));
    assertTrue(holds(page, 7));
  }

  private static MemorySegment filledPart(int seed) {
    MemorySegment part = MemorySegment.ofArray(new long[3]);
    TransferBench.fill(part, seed);
    return part.asSlice(8, 16);
  }

  private static void future(TransferBench bench) throws Exception {
    long mine = bench.here.filled(9);
    long theirs = bench.there.filled(0);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      batch.write(mine, bench.peer, bench.there.address(theirs));
      assertEquals(TransferOutcome.NOT_SENT, batch.outcome(0));
      assertSame(batch, batch.submitAsync(deadline()).get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
      assertTrue(batch.isDone() && batch.allCompleted());
    }
    assertTrue(holds(bench.there.pool.page(theirs), 9));
  }

  private static void own(TransferBench bench) {
    long source = bench.here.filled(10);
    long target = bench.here.filled(11);
    Segment self = bench.here.engine.openSegment(bench.here.engine.descriptor());
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      run(batch.write(source, self, bench.here.address(target)));
    }
    assertTrue(holds(bench.here.pool.page(target), 10));
  }

  private static void descriptor(TransferBench bench) {
    SegmentDescriptor descriptor = bench.there.engine.descriptor();
    assertEquals(descriptor, SegmentDescriptor.parse(descriptor.toBytes()));
    assertEquals(1, descriptor.ranges().size());
    assertEquals(bench.there.pool.slab().segment().address(), descriptor.ranges().getFirst().address());
    byte[] bytes = descriptor.toBytes();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(IllegalArgumentException.class, () -> SegmentDescriptor.parse(cut), "of " + length + " bytes");
    }
    assertThrows(IllegalArgumentException.class,
        () -> SegmentDescriptor.parse(Arrays.copyOf(bytes, bytes.length + 1)));
  }

  private static void oneRegistration(TransferBench bench) {
    try (Slab slab = Slab.allocate(SlabOptions.of("many", 8_000L * 4096))) {
      bench.here.engine.register(slab);
      assertEquals(2, bench.here.engine.registrations());
      assertEquals(2, bench.here.engine.descriptor().ranges().size());
      try (BlockPool pool = BlockPool.over(slab,
          new PoolLayout(4096, 8_000, 0), bench.here.gate)) {
        TransferBatch batch = bench.here.engine.batch(pool, 64);
        long[] blocks = new long[8_000];
        for (int i = 0; i < blocks.length; i++) {
          blocks[i] = pool.lease();
          pool.rewrite(blocks[i]).fill((byte) i);
        }
        long theirs = bench.there.filled(0);
        for (int from = 0; from < blocks.length; from += 64) {
          batch.clear();
          for (int i = from; i < Math.min(blocks.length, from + 64); i++)
            batch.write(blocks[i], bench.peer, bench.there.address(theirs));
          run(batch);
        }
        assertEquals(2, bench.here.engine.registrations());
        batch.close();
        for (long block : blocks)
          pool.release(block);
      }
      bench.here.engine.unregister(slab);
      assertEquals(1, bench.here.engine.registrations());
    }
  }
}
