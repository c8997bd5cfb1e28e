package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Device;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Pages from GPU memory into a store, the embedded one or a real Mooncake's behind TCP, and from there into other blocks of
 * GPU memory: GB/s of each way, every byte checked. Its peer without Java is {@code benchmarks/cuda/store_probe.cu}. Prints JSON.
 *
 * <p>Flags: {@code --library loopback|mooncake}, {@code --driver ffm|lwjgl|host}, {@code --fragments BYTES,..}, {@code --bytes N} of all pages,
 * {@code --group BYTES} that a worker moves at a time, {@code --workers N,..}, {@code --repeats N}, {@code --output FILE}.
 */
public final class DeviceStore {
  private static final long MIB = 1 << 20;

  private DeviceStore() {}

  /**
   * Measures and prints.
   *
   * @param arguments see above
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String library = flags.word("--library", List.of(StoreOptions.LOOPBACK, StoreOptions.MOONCAKE));
    String driver = flags.word("--driver", List.of("ffm", "lwjgl", "host"));
    List<Long> fragments = flags.numbers("--fragments", List.of(4096L, 32768L, 262144L));
    long bytes = flags.number("--bytes", 2L << 30);
    long groupBytes = flags.number("--group", 64L << 20);
    List<Long> workers = flags.numbers("--workers", List.of(1L, 2L, 3L, 4L, 6L));
    int repeats = Math.toIntExact(Math.max(1, flags.number("--repeats", 7)));
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe().put("driver", driver).put("library", library).put("repeats", repeats)
        .put("groupBytes", groupBytes).put("statistic", "median");
    long segmentBytes = MIB * (bytes * 3 / 2 / MIB + 16);
    Path log = Files.createTempFile("device-store", ".log");
    EpochGate gate = new EpochGate(new WeightEpoch("bench", 0));
    try (Topology topology = library.equals(StoreOptions.MOONCAKE)
        ? Topology.mooncake("tcp", segmentBytes, log)
        : Topology.loopback(segmentBytes, log);
        Device gpu = Device.open(driver, 0);
        KvStore store = KvStore.open(topology.store(), KeyCodec.verbatim(), gate, Observer.NONE)) {
      report.put("topology", topology.name());
      report.put("card", gpu.info().name());
      ArrayNode rows = report.putArray("rows");
      for (long fragmentBytes : fragments) {
        for (long count : workers) {
          try (StoredCell cell = new StoredCell(gpu, store, fragmentBytes, bytes, groupBytes, Math.toIntExact(count))) {
            ObjectNode row = rows.addObject();
            cell.measure(repeats, row);
            System.err.println(row);
          }
        }
      }
    }
    Machine.publish(report, output);
  }
}
