package dev.gatun.backend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which transfer engine to open, and how. Immutable and validated: the native libraries are not strict, an unknown
 * metadata scheme aborts the process and an unknown protocol can leave an engine that crashes.
 *
 * @param engine kind of engine: {@link #LOOPBACK}, {@link #MOONCAKE}, {@link #NIXL}
 * @param libraryPath the library file, null to have it located
 * @param localName host, or host and port, under which peers reach this process; for NIXL the name of the agent
 * @param metadata {@code P2PHANDSHAKE} or the URL of a metadata service that all peers share
 * @param protocol how bytes move: {@code loopback}, {@code tcp}, {@code rdma}, or what else the library names
 * @param devices comma-separated network devices, empty for all
 * @param parameters what else the library's backend takes, by name; for NIXL also {@code pthr_delay_us}, 0 to 1,000,000: how
 *     long its thread sleeps between two looks, 100 unless given; 0 takes a core
 * @param connectTimeout longest wait for a peer that does not answer, 1 s to 1 h
 * @param closeTimeout longest wait of {@code close()}, 1 ms to 1 h
 */
public record EngineOptions(String engine, @Nullable Path libraryPath, String localName, String metadata,
    String protocol, String devices, Map<String, String> parameters, Duration connectTimeout, Duration closeTimeout) {
  /** The embedded engine. */
  public static final String LOOPBACK = "loopback";
  /** Mooncake's transfer engine. */
  public static final String MOONCAKE = "mooncake";
  /** NIXL. */
  public static final String NIXL = "nixl";

  private static final Pattern ENGINE = Pattern.compile("[a-z][a-z0-9_-]{0,31}");
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,31}");
  private static final Pattern DEVICES = Pattern.compile("[A-Za-z0-9_.:,-]{0,1000}");
  private static final Pattern AGENT = Pattern.compile("[A-Za-z0-9_.:@/\\[\\]-]{1,255}");
  // what Mooncake's engine installs by name; anything else leaves an engine without transport, or without memory table
  private static final Set<String> MOONCAKE_PROTOCOLS = Set.of("tcp", "rdma", "efa", "cxi", "nvlink", "nvlink_intra",
      "hip", "ascend", "ub", "cxl", "barex");
  // 5 s: the library's own; an unreachable host takes as long to be noticed
  private static final Duration CONNECT_DEFAULT = Duration.ofSeconds(5);
  // 30 s: a TCP transfer to a frozen peer is given up after as long
  private static final Duration CLOSE_DEFAULT = Duration.ofSeconds(30);
  private static final Duration LONGEST = Duration.ofHours(1);

  /** Validates. */
  public EngineOptions {
    requireEngine("engine", engine);
    localName = localName(engine, localName);
    metadata = metadata(engine, metadata);
    protocol = protocol(engine, protocol);
    if (!DEVICES.matcher(devices).matches()) {
      throw new IllegalArgumentException("devices must be a comma-separated list of device names: \""
          + StoreAddresses.printable(devices) + '"');
    }
    parameters = parameters(parameters);
    between("connectTimeout", connectTimeout, Duration.ofSeconds(1));
    between("closeTimeout", closeTimeout, Duration.ofMillis(1));
  }

  /** {@return options of the embedded engine, which reaches engines on this machine} */
  public static EngineOptions loopback() {
    return of(LOOPBACK, "127.0.0.1", LOOPBACK);
  }

  /**
   * {@return options of Mooncake's engine over TCP, peers finding each other by name}
   *
   * @param localName host under which peers reach this process; the engine adds a port of its own
   */
  public static EngineOptions mooncake(String localName) {
    return of(MOONCAKE, localName, "tcp");
  }

  /**
   * {@return options of NIXL over UCX}
   *
   * @param agent name of this agent, different from those of all peers
   */
  public static EngineOptions nixl(String agent) {
    return of(NIXL, agent, "UCX");
  }

  private static EngineOptions of(String engine, String localName, String protocol) {
    return new EngineOptions(engine, null, localName, StoreAddresses.P2P, protocol, "", Map.of(), CONNECT_DEFAULT,
        CLOSE_DEFAULT);
  }

  /**
   * {@return these options with another protocol}
   *
   * @param name how bytes move
   */
  public EngineOptions withProtocol(String name) {
    return new EngineOptions(engine, libraryPath, localName, metadata, name, devices, parameters, connectTimeout,
        closeTimeout);
  }

  /**
   * {@return these options with a metadata service}
   *
   * @param server {@code P2PHANDSHAKE} or a URL
   */
  public EngineOptions withMetadata(String server) {
    return new EngineOptions(engine, libraryPath, localName, server, protocol, devices, parameters, connectTimeout,
        closeTimeout);
  }

  /**
   * {@return these options with a choice of devices}
   *
   * @param names comma-separated, empty for all
   */
  public EngineOptions withDevices(String names) {
    return new EngineOptions(engine, libraryPath, localName, metadata, protocol, names, parameters, connectTimeout,
        closeTimeout);
  }

  /**
   * {@return these options with parameters for the library's backend}
   *
   * @param byName all of them
   */
  public EngineOptions withParameters(Map<String, String> byName) {
    return new EngineOptions(engine, libraryPath, localName, metadata, protocol, devices, byName, connectTimeout,
        closeTimeout);
  }

  /**
   * {@return these options with a library file}
   *
   * @param file the library
   */
  public EngineOptions withLibrary(Path file) {
    return new EngineOptions(engine, file, localName, metadata, protocol, devices, parameters, connectTimeout,
        closeTimeout);
  }

  /**
   * {@return these options with other limits}
   *
   * @param connect longest wait for a peer that does not answer
   * @param close longest wait of {@code close()}
   */
  public EngineOptions withTimeouts(Duration connect, Duration close) {
    return new EngineOptions(engine, libraryPath, localName, metadata, protocol, devices, parameters, connect, close);
  }

  static String requireEngine(String field, String engine) {
    if (ENGINE.matcher(engine).matches()) return engine;
    throw new IllegalArgumentException(field + " must be loopback, mooncake, nixl or another word of lower-case "
        + "letters, digits, hyphens and underscores: \"" + StoreAddresses.printable(engine) + '"');
  }

  private static String localName(String engine, String name) {
    if (!engine.equals(NIXL)) return HostPort.parse("localName", name, HostPort.NO_PORT).toString();
    if (AGENT.matcher(name).matches()) return name;
    throw new IllegalArgumentException("localName must be 1 to 255 of [A-Za-z0-9_.:@/[]-] for nixl: \""
        + StoreAddresses.printable(name) + '"');
  }

  private static String metadata(String engine, String text) {
    if (engine.equals(MOONCAKE)) return StoreAddresses.metadata(engine, text, "metadata");
    if (text.equalsIgnoreCase(StoreAddresses.P2P)) return StoreAddresses.P2P;
    throw new IllegalArgumentException("metadata must be " + StoreAddresses.P2P + " for engine " + engine + ": \""
        + StoreAddresses.printable(text) + '"');
  }

  private static String protocol(String engine, String protocol) {
    boolean good = switch (engine) {
      case LOOPBACK -> protocol.equals(LOOPBACK);
      case MOONCAKE -> MOONCAKE_PROTOCOLS.contains(protocol);
      default -> WORD.matcher(protocol).matches();
    };
    if (good) return protocol;
    String allowed = switch (engine) {
      case LOOPBACK -> LOOPBACK;
      case MOONCAKE -> "one of " + String.join(", ", MOONCAKE_PROTOCOLS.stream().sorted().toList());
      default -> "1 to 32 of [A-Za-z0-9_-]";
    };
    throw new IllegalArgumentException("protocol must be " + allowed + " for engine " + engine + ": \""
        + StoreAddresses.printable(protocol) + '"');
  }

  private static Map<String, String> parameters(Map<String, String> parameters) {
    parameters.forEach((name, value) -> {
      if (!WORD.matcher(name).matches() || value.chars().anyMatch(Character::isISOControl)) {
        throw new IllegalArgumentException("parameters must be words with printable values: "
            + StoreAddresses.printable(name + '=' + value));
      }
    });
    return Map.copyOf(new TreeMap<>(parameters));
  }

  private static void between(String field, Duration value, Duration least) {
    if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(field + " must be " + least + " to " + LONGEST + ": " + value);
    }
  }
}
