package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The engine's own benchmark, {@code transfer_engine_bench} of its package, with one thread: a process for each cell and
 * operation. It says how many batches it did in how long, so it has a mean and no median.
 *
 * @param program the executable
 * @param libraries where what it is linked to lies
 * @param peer segment whose first memory it reads and writes
 * @param bytes memory there, and as much here
 * @param blocks bytes a block
 * @param batches blocks a batch
 * @param seconds of each cell and operation, as whole ones are all that it takes
 */
record UpstreamBench(Path program, Path libraries, String peer, long bytes, List<Long> blocks, List<Long> batches,
    long seconds) {
  // what it logs at its end
  private static final Pattern RESULT = Pattern.compile("duration ([0-9.]+), batch count ([0-9]+), throughput");

  /** Runs every cell. {@return cells in the form of the C program's} */
  List<JsonNode> cells(Launcher launcher) throws IOException {
    List<JsonNode> cells = new ArrayList<>();
    for (long block : blocks) {
      for (long batch : batches) {
        ObjectNode cell = JsonNodeFactory.instance.objectNode().put("blockBytes", block).put("batch", batch);
        for (String operation : List.of("read", "write"))
          cell.putObject(operation).put("meanNanos", meanNanos(launcher, operation, block, batch));
        cells.add(cell);
      }
    }
    return cells;
  }

  private double meanNanos(Launcher launcher, String operation, long block, long batch) throws IOException {
    // it logs to standard error; the shell is gone by then
    List<String> command = List.of("env",
        "LD_LIBRARY_PATH=" + libraries + File.pathSeparator + System.getenv().getOrDefault("LD_LIBRARY_PATH", ""), "sh",
        "-c", "exec \"$0\" \"$@\" 2>&1", program.toString(), "--mode=initiator", "--metadata_server=P2PHANDSHAKE",
        "--local_server_name=127.0.0.1:12002", "--protocol=tcp", "--segment_id=" + peer, "--operation=" + operation,
        "--block_size=" + block, "--batch_size=" + batch, "--threads=1", "--duration=" + seconds,
        "--buffer_size=" + bytes);
    return meanNanos(launcher.text(launcher.start(command)));
  }

  /** {@return nanoseconds a batch, from what the program logged} */
  static double meanNanos(String logged) {
    Matcher result = RESULT.matcher(logged);
    if (!result.find()) throw new IllegalStateException("no result of transfer_engine_bench in:\n" + logged);
    return Double.parseDouble(result.group(1)) * 1e9 / Long.parseLong(result.group(2));
  }
}
