package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Source;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** {@code kv_transfer_params} of a request, by the names that vLLM's connectors and its router use. */
final class TransferParams {
  private final Fields fields;

  TransferParams(KvRequest request) {
    fields = Fields.of("kv_transfer_params", request.transferParams());
  }

  /** Whether prefill is elsewhere: this engine takes the KV over. */
  boolean remotePrefill() {
    return fields.bool("do_remote_prefill", false);
  }

  /** Whether decode is elsewhere: this engine hands the KV out. */
  boolean remoteDecode() {
    return fields.bool("do_remote_decode", false);
  }

  /** The name of the hand-over, given by the router for a push. */
  String transferId() {
    return required("transfer_id");
  }

  /** Where a push is asked for. */
  Source pushSource() {
    String bootstrap = required("remote_bootstrap_addr");
    URI uri = URI.create(bootstrap);
    if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() < 0) {
      throw fields.refused("remote_bootstrap_addr", "must be http://host:port");
    }
    return new Source(transferId(), required("remote_engine_id"), bootstrap,
        new HostPort(uri.getHost(), uri.getPort()));
  }

  /** Where the pages are pulled from. */
  Source pullSource() {
    int port = (int) fields.integer("remote_port", 0, 1, 65_535);
    return new Source(required("remote_request_id"), required("remote_engine_id"), "",
        new HostPort(required("remote_host"), port));
  }

  /** How many leading blocks a pull can have. */
  int remoteBlocks() {
    Fields groups = fields.elements("remote_block_ids");
    for (String group : groups.values().keySet())
      return groups.elements(group).values().size();
    throw fields.refused("remote_block_ids", "must list the blocks of one group");
  }

  /** What prefill returns for a pull, to be given to decode as it is. */
  static Map<String, Object> forPull(String requestId, String engineId, HostPort worker, int blocks) {
    return Map.of("do_remote_prefill", true, "do_remote_decode", false, "remote_block_ids",
        List.of(IntStream.range(0, blocks).boxed().toList()), "remote_engine_id", engineId, "remote_request_id",
        requestId, "remote_host", worker.host(), "remote_port", worker.port(), "tp_size", 1);
  }

  private String required(String field) {
    String text = fields.wordOrNull(field);
    if (text == null) throw fields.refused(field, "must be given");
    return text;
  }
}
