package dev.gatun.nativelib;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How to start a master.
 *
 * @param host address to listen on, for stores and for the admin interface alike, which has no access control
 * @param rpcPort port for stores, 0 for a free one
 * @param adminPort port for metrics and administration over HTTP, 0 for a free one
 * @param flags further flags of the master, without dashes, for example {@code default_kv_lease_ttl}
 * @param log file to append the master's output to, null for a temporary one that closing removes
 * @param startLimit how long it may take until it answers
 */
public record MasterOptions(String host, int rpcPort, int adminPort, Map<String, String> flags, @Nullable Path log,
    Duration startLimit) {
  private static final Set<String> OWN_FLAGS = Set.of("rpc_address", "rpc_interface", "rpc_port", "port",
      "metrics_host",
      "metrics_port", "logtostderr", "log_dir", "config_path", "flagfile");
  // unmeasured default; it took 0.2 s on the machine where it was tried
  private static final Duration START_LIMIT = Duration.ofSeconds(20);

  /** Loopback only, free ports, the master's own defaults, a temporary log. */
  public static final MasterOptions DEFAULT = new MasterOptions("127.0.0.1", 0, 0, Map.of(), null, START_LIMIT);

  /** Checks every field. */
  public MasterOptions {
    if (host.isBlank()) throw new IllegalArgumentException("host must not be blank: \"" + host + '"');
    requirePort("rpcPort", rpcPort);
    requirePort("adminPort", adminPort);
    if (rpcPort != 0 && rpcPort == adminPort) {
      throw new IllegalArgumentException("rpcPort and adminPort must differ: " + rpcPort);
    }
    for (String name : flags.keySet()) {
      if (!name.matches("[a-z0-9_]+")) {
        throw new IllegalArgumentException("flags must be named as the master names them, without dashes: " + name);
      }
      if (OWN_FLAGS.contains(name)) {
        throw new IllegalArgumentException("flags must not contain " + name + ": use host, rpcPort, adminPort or log");
      }
    }
    if (startLimit.isNegative() || startLimit.isZero()) {
      throw new IllegalArgumentException("startLimit must be positive: " + startLimit);
    }
    flags = Map.copyOf(flags);
  }

  /**
   * {@return these options with one flag more, or changed}
   *
   * @param name flag of the master, without dashes
   * @param value its value
   * @throws IllegalArgumentException if the name is no flag name, or one that other fields here decide
   */
  public MasterOptions withFlag(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(flags);
    more.put(name, value);
    return new MasterOptions(host, rpcPort, adminPort, more, log, startLimit);
  }

  /**
   * {@return these options with another address to listen on}
   *
   * @param address address or name of an interface of this machine
   */
  public MasterOptions withHost(String address) {
    return new MasterOptions(address, rpcPort, adminPort, flags, log, startLimit);
  }

  /**
   * {@return these options with other ports}
   *
   * @param rpc port for stores, 0 for a free one
   * @param admin port for the admin interface, 0 for a free one
   */
  public MasterOptions withPorts(int rpc, int admin) {
    return new MasterOptions(host, rpc, admin, flags, log, startLimit);
  }

  /**
   * {@return these options with a log file that is kept}
   *
   * @param file file to append to
   */
  public MasterOptions withLog(Path file) {
    return new MasterOptions(host, rpcPort, adminPort, flags, file, startLimit);
  }

  /**
   * {@return these options with another limit for the start}
   *
   * @param limit how long it may take until the master answers, positive
   */
  public MasterOptions withStartLimit(Duration limit) {
    return new MasterOptions(host, rpcPort, adminPort, flags, log, limit);
  }

  private static void requirePort(String field, int port) {
    if (port < 0 || port > 65_535) throw new IllegalArgumentException(field + " must be 0..65535: " + port);
  }
}
