package dev.gatun.backend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Everything a store needs to open; whatever is in an instance has been checked. Nothing is read from the environment.
 * Immutable, usable by any thread.
 *
 * @param library {@link #LOOPBACK} or {@link #MOONCAKE}
 * @param localHostname {@code host} or {@code host:port} under which this client is known; without a port one is chosen
 * @param metadataServer {@code P2PHANDSHAKE} or a URL of a metadata service
 * @param segmentBytes memory this client contributes to the store: 0 for none, else at least 16 MiB in steps of 4 KiB
 * @param localBufferBytes staging for copying puts: 0 for none, else at least 64 KiB in steps of 4 KiB
 * @param protocol {@code tcp}, {@code rdma} or another transport of the library, lower case
 * @param devices comma-separated device names, empty for the library's choice
 * @param master {@code host:port} of the master; for loopback {@code loopback:NAME}, the pool shared in this process
 * @param masterAdmin base URL of the master's administration, empty for none; loopback needs none
 * @param rpcTimeout longest wait for one answer of the master; one value a process, since the library reads it once
 * @param adminTimeout longest wait for one answer of the master's administration
 * @param closeTimeout how long closing waits for running calls and for the library, before it gives up with a warning
 * @param libraryPath shared library to load, null to look in the documented places
 */
public record StoreOptions(String library, String localHostname, String metadataServer, long segmentBytes,
    long localBufferBytes, String protocol, String devices, String master, String masterAdmin, Duration rpcTimeout,
    Duration adminTimeout, Duration closeTimeout, @Nullable Path libraryPath) {

  /** The embedded library: one process, no master, no network. */
  public static final String LOOPBACK = "loopback";
  /** A Mooncake store client. */
  public static final String MOONCAKE = "mooncake";

  /** Smallest segment that Mooncake mounts. */
  public static final long SEGMENT_BYTES_MIN = 16_777_216;
  // a local buffer below this cannot hold one page of any KV layout in use; unmeasured default
  private static final long LOCAL_BUFFER_BYTES_MIN = 65_536;
  // allocators of the library work in OS pages; an odd rest would be lost or refuse to mount
  private static final long STEP_BYTES = 4_096;
  // 1 PiB: above any machine's memory, far below where sums could overflow
  private static final long BYTES_MAX = 1L << 50;
  // below it a slow scheduler looks like a dead master, above it a dead one stalls a training step; unmeasured defaults
  private static final Duration TIMEOUT_MIN = Duration.ofMillis(100);
  private static final Duration TIMEOUT_MAX = Duration.ofMinutes(10);

  private static final List<String> LIBRARIES = List.of(LOOPBACK, MOONCAKE);
  private static final String RPC_ONLY = "rpc_only";
  // what Mooncake's store accepts; anything else is refused by it after a second, without naming the field
  private static final List<String> PROTOCOLS = List.of("tcp", "rdma", "efa", "cxi", "ascend", "ubshmem",
      "sunrise_link",
      "cxl", "ub", "nvlink_intra", RPC_ONLY);
  private static final Pattern DEVICES = Pattern.compile("(?:[A-Za-z0-9_.:-]{1,64}(?:,[A-Za-z0-9_.:-]{1,64}){0,63})?");

  /** Checks every field and brings it to its plain form; refuses with field, value and what is allowed. */
  public StoreOptions {
    library = word("library", library, LIBRARIES);
    protocol = word("protocol", protocol, library.equals(LOOPBACK) ? List.of("tcp") : PROTOCOLS);
    localHostname = HostPort.parse("localHostname", localHostname, HostPort.NO_PORT).toString();
    metadataServer = StoreAddresses.metadata(library, metadataServer);
    master = StoreAddresses.master(library, master);
    masterAdmin = StoreAddresses.admin(library, masterAdmin);
    bytes("segmentBytes", segmentBytes, SEGMENT_BYTES_MIN);
    bytes("localBufferBytes", localBufferBytes, LOCAL_BUFFER_BYTES_MIN);
    if (!DEVICES.matcher(devices).matches()) {
      throw new IllegalArgumentException("devices must be empty or names separated by commas, without spaces: \""
          + StoreAddresses.printable(devices) + '"');
    }
    timeout("rpcTimeout", rpcTimeout);
    timeout("adminTimeout", adminTimeout);
    timeout("closeTimeout", closeTimeout);
    if (protocol.equals(RPC_ONLY) && (segmentBytes > 0 || localBufferBytes > 0)) {
      throw new IllegalArgumentException(
          "protocol rpc_only moves no data: segmentBytes and localBufferBytes must be 0: "
              + segmentBytes + " and " + localBufferBytes);
    }
    refuseUnreachable(library, localHostname, master, segmentBytes);
  }

  /**
   * {@return options for the embedded store}
   *
   * @param pool name of the pool; stores of one process that name the same pool meet in it
   * @param segmentBytes memory to contribute
   */
  public static StoreOptions loopback(String pool, long segmentBytes) {
    return new StoreOptionsBuilder(LOOPBACK).master(StoreAddresses.LOOPBACK_PREFIX + pool).segmentBytes(segmentBytes)
        .build();
  }

  /**
   * {@return a builder for a client of a Mooncake master}
   *
   * @param master {@code host:port}, or {@code etcd://}, {@code redis://}, {@code k8s://} for a highly available one
   */
  public static StoreOptionsBuilder mooncake(String master) {
    return new StoreOptionsBuilder(MOONCAKE).master(master);
  }

  /**
   * {@return a builder filled from named texts, such as a properties file holds}
   *
   * @param options text by field name; {@code library} and {@code master} are required
   * @throws IllegalArgumentException for an unknown name, with the closest known one, or a text that is not understood
   */
  public static StoreOptionsBuilder of(Map<String, String> options) {
    StoreOptionsBuilder builder = new StoreOptionsBuilder(options.getOrDefault("library", ""));
    options.forEach(builder::set);
    return builder;
  }

  /** {@return a builder that starts from these options} */
  public StoreOptionsBuilder toBuilder() {
    return new StoreOptionsBuilder(this);
  }

  /** {@return what is legal but probably not meant, one line each; empty if nothing} */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    if (library.equals(LOOPBACK)) return warnings;
    if (isLoopback(localHostname) && (StoreAddresses.isHighAvailability(master) || !isLoopback(master))) {
      warnings.add("localHostname " + localHostname + " is a loopback name, the master " + master
          + " is not: other machines cannot reach this client");
    }
    if (masterAdmin.isEmpty()) {
      warnings.add("masterAdmin is not set: removals cannot be verified, and keys cannot be listed");
    }
    return warnings;
  }

  /** {@return whether the master is found through a coordination service, and another may take over from it} */
  public boolean isHighlyAvailable() {
    return StoreAddresses.isHighAvailability(master);
  }

  /** {@return the effective configuration by field name, in declaration order; passwords in URLs are masked} */
  public Map<String, String> effective() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("library", library);
    fields.put("localHostname", localHostname);
    fields.put("metadataServer", StoreAddresses.masked(metadataServer));
    fields.put("segmentBytes", Long.toString(segmentBytes));
    fields.put("localBufferBytes", Long.toString(localBufferBytes));
    fields.put("protocol", protocol);
    fields.put("devices", devices);
    fields.put("master", StoreAddresses.masked(master));
    fields.put("masterAdmin", StoreAddresses.masked(masterAdmin));
    fields.put("rpcTimeout", rpcTimeout.toMillis() + "ms");
    fields.put("adminTimeout", adminTimeout.toMillis() + "ms");
    fields.put("closeTimeout", closeTimeout.toMillis() + "ms");
    fields.put("libraryPath", libraryPath == null ? "" : libraryPath.toString());
    return fields;
  }

  /** {@return the effective configuration as text, one {@code name = value} a line, sizes with units beside them} */
  public String describe() {
    StringBuilder text = new StringBuilder();
    effective().forEach((name, value) -> {
      text.append(name).append(" = ").append(value);
      if (name.endsWith("Bytes")) text.append(" (").append(ByteSize.format(Long.parseLong(value))).append(')');
      text.append('\n');
    });
    return text.toString();
  }

  /** The same as {@link #describe} on one line, so that no log shows a password. */
  @Override
  public String toString() {
    return "StoreOptions" + effective();
  }

  private static String word(String field, String text, List<String> allowed) {
    String plain = text.strip().toLowerCase(Locale.ROOT);
    if (allowed.contains(plain)) return plain;
    throw new IllegalArgumentException(
        field + " must be one of " + String.join(", ", allowed) + ": \"" + StoreAddresses.printable(text) + '"');
  }

  private static void bytes(String field, long bytes, long min) {
    if (bytes == 0) return;
    if (bytes < min || bytes > BYTES_MAX) {
      throw new IllegalArgumentException(
          field + " must be 0, or " + min + " (" + ByteSize.format(min) + ") to " + BYTES_MAX
              + " (" + ByteSize.format(BYTES_MAX) + "): " + bytes);
    }
    if (bytes % STEP_BYTES != 0) {
      long below = bytes - bytes % STEP_BYTES;
      throw new IllegalArgumentException(field + " must be a multiple of " + STEP_BYTES + ", such as " + below + " or "
          + (below + STEP_BYTES) + ": " + bytes);
    }
  }

  private static void timeout(String field, Duration timeout) {
    if (timeout.compareTo(TIMEOUT_MIN) < 0 || timeout.compareTo(TIMEOUT_MAX) > 0) {
      throw new IllegalArgumentException(field + " must be " + TIMEOUT_MIN.toMillis() + "ms to "
          + TIMEOUT_MAX.toMinutes() + "m: " + timeout.toMillis() + "ms");
    }
  }

  private static boolean isLoopback(String address) {
    return HostPort.parse("address", address, HostPort.NO_PORT).isLoopback();
  }

  private static void refuseUnreachable(String library, String localHostname, String master, long segmentBytes) {
    if (library.equals(LOOPBACK) || segmentBytes == 0 || StoreAddresses.isHighAvailability(master)) return;
    if (isLoopback(localHostname) && !isLoopback(master)) {
      throw new IllegalArgumentException(
          "localHostname must be a name that other machines reach, since segmentBytes is "
              + segmentBytes + " and the master " + master + " is not on the loopback interface: \"" + localHostname
              + '"');
    }
  }
}
