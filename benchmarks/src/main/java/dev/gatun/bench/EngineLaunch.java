package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.ThreadMXBean;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.MemoryRange;
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
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One launch of the Java side: batches of reads and writes with a peer process, printed as the C program prints them. */
final class EngineLaunch {
  private static final Deadline NEVER = Deadline.after(Duration.ofDays(1));

  private final TransferEngine engine;
  private final Segment peer;
  private final long remoteAddress;

  private EngineLaunch(TransferEngine engine, Segment peer, long remoteAddress) {
    this.engine = engine;
    this.peer = peer;
    this.remoteAddress = remoteAddress;
  }

  static EngineOptions options(String engine) {
    return engine.equals(EngineOptions.LOOPBACK) ? EngineOptions.loopback() : EngineOptions.mooncake("127.0.0.1");
  }

  public static void main(String[] arguments) {
    Flags flags = new Flags(arguments);
    EngineOptions options = options(flags.word("--engine", List.of("loopback", "mooncake")));
    String name = flags.text("--peer", "");
    long address = flags.number("--address", 0);
    long bytes = flags.number("--bytes", 0);
    List<Long> blocks = flags.numbers("--blocks", List.of(65_536L, 1_048_576L));
    List<Long> batches = flags.numbers("--batches", List.of(1L, 16L, 128L));
    long cellMillis = flags.number("--cell-millis", 500);
    long warmMillis = flags.number("--warm-millis", 2_000);
    flags.requireKnown();
    EpochGate gate = new EpochGate(new WeightEpoch("bench", 1));
    SegmentDescriptor descriptor = new SegmentDescriptor(options.engine(), name, new byte[0],
        List.of(new MemoryRange(address, bytes, MemoryRange.ANYWHERE)));
    ObjectNode report = JsonNodeFactory.instance.objectNode();
    ArrayNode cells = report.putArray("cells");
    // as the C program, whose pages the kernel merges too
    try (Slab slab = Slab.allocate(SlabOptions.of("bench", bytes).withHugePages(HugePages.TRANSPARENT).prefaulted());
        TransferEngine engine = TransferEngine.open(options, gate)) {
      engine.register(slab);
      EngineLaunch launch = new EngineLaunch(engine, engine.openSegment(descriptor), address);
      // the code of all cells is compiled before the first is measured
      launch.cell(slab, gate, blocks.getFirst(), Math.toIntExact(batches.getLast()), warmMillis);
      for (long block : blocks) {
        for (long batch : batches)
          cells.add(launch.cell(slab, gate, block, Math.toIntExact(batch), cellMillis));
      }
    }
    System.out.println(report);
  }

  private ObjectNode cell(Slab slab, EpochGate gate, long blockBytes, int count, long millis) {
    ObjectNode cell = JsonNodeFactory.instance.objectNode().put("blockBytes", blockBytes).put("batch", count);
    try (BlockPool pool = BlockPool.over(slab, new PoolLayout(blockBytes, count, 0), gate);
        TransferBatch batch = engine.batch(pool, count)) {
      long[] leased = new long[count];
      for (int i = 0; i < count; i++)
        leased[i] = pool.lease();
      // ascending addresses, as the C program has them
      Arrays.sort(leased);
      for (int i = 0; i < count; i++)
        batch.read(leased[i], peer, remoteAddress + i * blockBytes);
      cell.set("read", measure(batch, millis));
      batch.clear();
      for (int i = 0; i < count; i++)
        batch.write(leased[i], peer, remoteAddress + i * blockBytes);
      cell.set("write", measure(batch, millis));
      for (long block : leased)
        pool.release(block);
    }
    return cell;
  }

  private ObjectNode measure(TransferBatch batch, long millis) {
    long halfNanos = millis * 500_000;
    for (long end = System.nanoTime() + halfNanos; System.nanoTime() < end;)
      once(batch);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<Long> all = new ArrayList<>();
    long[] nanos = new long[1 << 16];
    int measured = 0;
    long before = threads.getCurrentThreadAllocatedBytes();
    for (long end = System.nanoTime() + halfNanos; measured < nanos.length
        && (System.nanoTime() < end || measured < 5);)
      nanos[measured++] = once(batch);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    for (int i = 0; i < measured; i++)
      all.add(nanos[i]);
    all.sort(null);
    long sum = all.stream().mapToLong(Long::longValue).sum();
    return JsonNodeFactory.instance.objectNode().put("medianNanos", all.get(measured / 2))
        .put("meanNanos", sum / measured).put("p99Nanos", all.get((int) (0.99 * (measured - 1))))
        .put("iterations", measured).put("allocatedBytes", (double) allocated / measured);
  }

  private static long once(TransferBatch batch) {
    long start = System.nanoTime();
    if (!batch.submit().await(NEVER) || !batch.allCompleted()) throw new IllegalStateException("a transfer failed");
    return System.nanoTime() - start;
  }
}
