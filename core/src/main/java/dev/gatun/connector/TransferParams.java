package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Source;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * {@code kv_transfer_params} of a request, by the names that vLLM's connectors and its router use. A null, which the router
 * sends for what it does not know, is the same as nothing.
 */
final class TransferParams {
  private final Fields fields;

  TransferParams(KvRequest request) {
    Map<String, ? extends @Nullable Object> given = new LinkedHashMap<>(request.transferParams());
    given.values().removeIf(Objects::isNull);
    fields = Fields.of("kv_transfer_params", given);
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
    URI uri;
    try {
      uri = new URI(bootstrap);
    } catch (URISyntaxException e) {
      throw fields.refused("remote_bootstrap_addr", "must be http://host:port");
    }
    if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() < 1) {
      throw fields.refused("remote_bootstrap_addr", "must be http://host:port");
    }
    String host = uri.getHost().startsWith("[")
        ? uri.getHost().substring(1, uri.getHost().length() - 1)
        : uri.getHost();
    return new Source(transferId(), required("remote_engine_id"), bootstrap,
        reachable("remote_bootstrap_addr", new HostPort(host, uri.getPort())));
  }

  /** Where the pages are pulled from. */
  Source pullSource() {
    Long port = fields.integerOrNull("remote_port", 1, 65_535);
    if (port == null) throw fields.refused("remote_port", "must be given");
    return new Source(required("remote_request_id"), required("remote_engine_id"), "",
        reachable("remote_host", new HostPort(required("remote_host"), port.intValue())));
  }

  private HostPort reachable(String field, HostPort peer) {
    if (peer.isWildcard()) throw fields.refused(field, "must be where the engine is reached, not where it listens");
    return peer;
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
