package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@code kv_connector_extra_config} says to a {@code MooncakeConnector}, which pushes from prefill to decode.
 *
 * @param workers threads that push, {@code num_workers}
 * @param protocol transport of Mooncake, lower case, {@code mooncake_protocol}
 * @param deviceName network devices separated by commas, empty for the library's choice
 * @param bootstrapServerAddress bootstrap server that runs elsewhere; without one the prefill engine starts its own
 */
public record MooncakeConnectorOptions(int workers, String protocol, String deviceName,
    Optional<HostPort> bootstrapServerAddress) {

  static final Set<String> SINCE_V33 = Set.of("bootstrap_server_address");
  static final Set<String> FIELDS = Set.of("num_workers", "mooncake_protocol", "device_name",
      "bootstrap_server_address");

  // what Mooncake's engine takes by name
  private static final List<String> PROTOCOLS = List.of("tcp", "rdma", "efa", "cxi", "ascend", "ubshmem",
      "sunrise_link", "cxl", "ub", "nvlink_intra");
  // 1,024: more threads than a machine has cores help nobody
  private static final int WORKERS_MAX = 1024;

  static MooncakeConnectorOptions of(Fields extra) {
    extra.requireKnown(FIELDS);
    String protocol = extra.word("mooncake_protocol", "rdma").toLowerCase(Locale.ROOT);
    if (!PROTOCOLS.contains(protocol)) {
      throw extra.refused("mooncake_protocol", "must be one of " + String.join(", ", PROTOCOLS));
    }
    return new MooncakeConnectorOptions((int) extra.integer("num_workers", 10, 1, WORKERS_MAX), protocol,
        extra.text("device_name", ""), Optional.ofNullable(bootstrap(extra)));
  }

  private static @Nullable HostPort bootstrap(Fields extra) {
    String field = "bootstrap_server_address";
    String address = extra.wordOrNull(field);
    if (address == null) return null;
    HostPort parsed = HostPort.parse(extra.name(field), address, HostPort.NO_PORT);
    if (parsed.port() == HostPort.NO_PORT) throw extra.refused(field, "must be host:port");
    if (parsed.isWildcard()) throw extra.refused(field, "must be where the service is reached, not where it listens");
    return parsed;
  }
}
