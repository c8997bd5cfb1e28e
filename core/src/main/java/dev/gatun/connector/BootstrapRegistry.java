package dev.gatun.connector;

import dev.gatun.connector.BootstrapServer.Reply;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Who has registered: for each data-parallel rank one engine, and in it an address for each tensor and pipeline rank. */
final class BootstrapRegistry {
  private static final List<String> FIELDS = List.of("engine_id", "dp_rank", "tp_rank", "pp_rank", "addr");
  // 65,536: above any rank, so that a client cannot fill the memory with nonsense one rank at a time for long
  private static final int RANK_MAX = 65_536;
  // 4,096: bounds what clients can make this process keep; a fleet's largest engines have some hundred workers
  private static final int WORKERS_MAX = 4096;

  private final Map<Integer, Engine> engines = new TreeMap<>();
  private int workers;

  private record Engine(String id, Map<Integer, Map<Integer, String>> addresses) {}

  /** Registers a worker; the same registration again is fine, one that contradicts an earlier one is refused. */
  synchronized Reply register(String body) {
    Fields fields;
    try {
      fields = Fields.of("", ConfigJson.object("body", body));
    } catch (IllegalArgumentException e) {
      return Reply.refused(400, String.valueOf(e.getMessage()));
    }
    try {
      return register(Worker.of(fields));
    } catch (IllegalArgumentException e) {
      // what the reference answers for fields that are missing or of another type
      return Reply.refused(422, String.valueOf(e.getMessage()));
    }
  }

  /** Every engine with its workers' addresses, by rank. */
  synchronized Reply query() {
    Map<String, @Nullable Object> body = new TreeMap<>();
    engines.forEach((dp, engine) -> {
      Map<String, Object> addresses = new TreeMap<>();
      engine.addresses.forEach((tp, pipeline) -> {
        Map<String, Object> byPipeline = new TreeMap<>();
        pipeline.forEach((pp, address) -> byPipeline.put(pp.toString(), address));
        addresses.put(tp.toString(), byPipeline);
      });
      body.put(dp.toString(), new TreeMap<>(Map.of("engine_id", engine.id, "worker_addr", addresses)));
    });
    return new Reply(200, body);
  }

  private Reply register(Worker worker) {
    Engine engine = engines.get(worker.dp);
    if (engine != null && !engine.id.equals(worker.engineId)) {
      return Reply.refused(400, "engine_id must be " + engine.id + ", which has dp_rank " + worker.dp + " already: "
          + PlainValues.shown(worker.engineId));
    }
    String known = engine == null ? null : engine.addresses.getOrDefault(worker.tp, Map.of()).get(worker.pp);
    if (known != null && !known.equals(worker.address)) {
      return Reply.refused(400, "addr must be " + known + ", with which dp_rank " + worker.dp + " tp_rank " + worker.tp
          + " pp_rank " + worker.pp + " has registered already: " + PlainValues.shown(worker.address));
    }
    if (known == null) {
      if (workers == WORKERS_MAX) return Reply.refused(400, "no more than " + WORKERS_MAX + " workers can register");
      engines.computeIfAbsent(worker.dp, rank -> new Engine(worker.engineId, new TreeMap<>())).addresses
          .computeIfAbsent(worker.tp, rank -> new TreeMap<>()).put(worker.pp, worker.address);
      workers++;
    }
    return new Reply(200, Map.of("status", "ok"));
  }

  private record Worker(String engineId, int dp, int tp, int pp, String address) {
    static Worker of(Fields fields) {
      for (String field : FIELDS) {
        if (fields.values().get(field) == null) throw fields.refused(field, "must be given");
      }
      String address = fields.word("addr", "");
      BootstrapClient.address(address);
      return new Worker(fields.word("engine_id", ""), rank(fields, "dp_rank"), rank(fields, "tp_rank"),
          rank(fields, "pp_rank"), address);
    }

    private static int rank(Fields fields, String field) {
      return (int) fields.integer(field, 0, 0, RANK_MAX);
    }
  }
}
