package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.ThreadMXBean;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.transfer.Segment;
import dev.gatun.transfer.TransferBatch;
import dev.gatun.transfer.TransferEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.stream.LongStream;

/** One launch of the Java side of {@link NixlComparison}. What is timed fills the batch, moves it, and sees it end. */
final class NixlLaunch {
  private static final int ITERATIONS_MAX = 200_000;
  private static final int ITERATIONS_MIN = 10;
  // the compiler is done with every method of the hot path well before, on two busy cores too
  private static final long WARM_MILLIS = 2_000;

  private final TransferEngine engine;
  private final Slab slab;
  private final EpochGate gate;
  private final Segment peer;
  private final long remoteAddress;
  private final Deadline never = Deadline.after(Duration.ofDays(1));
  private final MemorySegment nanos = Arena.global().allocate(ValueLayout.JAVA_LONG, ITERATIONS_MAX); // process

  private NixlLaunch(TransferEngine engine, Slab slab, EpochGate gate, Segment peer, long remoteAddress) {
    this.engine = engine;
    this.slab = slab;
    this.gate = gate;
    this.peer = peer;
    this.remoteAddress = remoteAddress;
  }

  public static void main(String[] arguments) {
    Flags flags = new Flags(arguments);
    String[] peer = flags.text("--peer", "").split(",", -1);
    long bytes = flags.number("--bytes", 0);
    List<Long> blocks = flags.numbers("--blocks", List.of());
    List<Long> batches = flags.numbers("--batches", List.of());
    long cellMillis = flags.number("--cell-millis", 200);
    flags.requireKnown();
    SegmentDescriptor descriptor = SegmentDescriptor.parse(Base64.getDecoder().decode(peer[0]));
    EpochGate gate = new EpochGate(new WeightEpoch("bench", 1));
    ObjectNode report = JsonNodeFactory.instance.objectNode();
    ArrayNode cells = report.putArray("cells");
    // as numpy's large arrays, whose pages the kernel merges too
    try (Slab slab = Slab.allocate(SlabOptions.of("bench", bytes).withHugePages(HugePages.TRANSPARENT).prefaulted());
        TransferEngine engine = TransferEngine
            .open(EngineOptions.nixl("java-" + ProcessHandle.current().pid()), gate)) {
      engine.register(slab);
      NixlLaunch launch = new NixlLaunch(engine, slab, gate, engine.openSegment(descriptor), Long.parseLong(peer[2]));
      // the code of all cells is compiled before the first is measured
      for (long batch : batches)
        launch.cell(new NixlCell(blocks.getFirst(), Math.toIntExact(batch), NixlCell.SCATTERED, "read"), WARM_MILLIS);
      for (long block : blocks) {
        for (long batch : batches) {
          for (String layout : List.of(NixlCell.SCATTERED, NixlCell.CONSECUTIVE)) {
            for (String operation : List.of("read", "write"))
              cells.add(launch.cell(new NixlCell(block, Math.toIntExact(batch), layout, operation), cellMillis));
          }
        }
      }
      engine.unregister(slab);
    }
    System.out.println(report);
  }

  private ObjectNode cell(NixlCell cell, long millis) {
    try (BlockPool pool = BlockPool.over(slab, new PoolLayout(cell.blockBytes(), cell.slots(), 0), gate);
        TransferBatch batch = engine.batch(pool, cell.batch())) {
      long[] leased = LongStream.generate(pool::lease).limit(cell.slots()).boxed()
          .sorted((a, b) -> Long.compareUnsigned(pool.blockAddress(a), pool.blockAddress(b)))
          .mapToLong(Long::longValue).toArray();
      long[] local = new long[cell.batch()];
      long[] remote = new long[cell.batch()];
      for (int i = 0; i < cell.batch(); i++) {
        local[i] = leased[cell.localSlot(i)];
        remote[i] = remoteAddress + cell.remoteSlot(i) * cell.blockBytes();
      }
      run(batch, "read", local, remote);
      verify(pool, local, remote);
      ObjectNode measured = measure(batch, cell, local, remote, millis);
      for (long block : leased)
        pool.release(block);
      return measured;
    }
  }

  private void verify(BlockPool pool, long[] local, long[] remote) {
    for (int i = 0; i < local.length; i++) {
      MemorySegment page = pool.page(local[i]);
      for (long at = 0; at < page.byteSize(); at += Long.BYTES) {
        if (page.get(ValueLayout.JAVA_LONG, at) != remote[i] - remoteAddress + at) {
          throw new IllegalStateException("block " + i + " holds something else at " + at);
        }
      }
    }
  }

  private ObjectNode measure(TransferBatch batch, NixlCell cell, long[] local, long[] remote, long millis) {
    long halfNanos = millis * 500_000;
    for (long end = System.nanoTime() + halfNanos; System.nanoTime() < end;)
      run(batch, cell.operation(), local, remote);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Samples samples = new Samples();
    int measured = 0;
    long before = threads.getCurrentThreadAllocatedBytes();
    for (long end = System.nanoTime() + halfNanos; measured < ITERATIONS_MAX
        && (System.nanoTime() < end || measured < ITERATIONS_MIN); measured++) {
      long start = System.nanoTime();
      run(batch, cell.operation(), local, remote);
      nanos.setAtIndex(ValueLayout.JAVA_LONG, measured, System.nanoTime() - start);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    samples.add(nanos, measured);
    ObjectNode json = cell.json().put("way", NixlCell.JAVA).put("allocatedBytes", (double) allocated / measured);
    json.setAll(samples.json());
    return json;
  }

  private void run(TransferBatch batch, String operation, long[] local, long[] remote) {
    batch.clear();
    if (operation.equals("read")) {
      for (int i = 0; i < local.length; i++)
        batch.read(local[i], peer, remote[i]);
    } else {
      for (int i = 0; i < local.length; i++)
        batch.write(local[i], peer, remote[i]);
    }
    if (!batch.submit().await(never) || !batch.allCompleted()) throw new IllegalStateException("a transfer failed");
  }
}
