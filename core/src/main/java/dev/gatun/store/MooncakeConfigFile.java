package dev.gatun.store;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.gatun.backend.ByteSize;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.OptionText;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.StoreOptionsBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The JSON file that {@code MOONCAKE_CONFIG_PATH} names for vLLM, read with vLLM's rules and defaults: protocol
 * {@code rdma}, 4 GiB segment, 4 GiB local buffer, mode {@code embedded}; a {@code standalone-store} client contributes no
 * segment.
 *
 * <p>Stricter than vLLM: an unknown key is refused, with the closest known one, and so is a key that asks for what the C
 * interface of Mooncake cannot do (a tenant, offload to disk, a client server), rather than being dropped. Read nothing
 * else: the environment is consulted by {@link #fromEnvironment} alone.
 */
public final class MooncakeConfigFile {
  /** The environment variable that names the file. */
  public static final String VARIABLE = "MOONCAKE_CONFIG_PATH";
  /** The environment variable that vLLM takes this client's name from. */
  public static final String HOSTNAME_VARIABLE = "MOONCAKE_REQUESTER_LOCAL_HOSTNAME";

  private static final ObjectMapper JSON = JsonMapper.builder().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
      .build();
  // vLLM's defaults for both sizes
  private static final long BYTES_DEFAULT = 4L << 30;
  private static final Set<String> USED = Set.of("local_hostname", "metadata_server", "master_server_address",
      "protocol",
      "device_name", "mode", "global_segment_size", "local_buffer_size", "master_metrics_port");
  /** Keys that other readers know; harmless while they ask for nothing. */
  private static final Set<String> REFUSED_WHEN_TRUE = Set.of("enable_offload", "enable_ssd_offload",
      "standalone_storage");
  private static final Set<String> REFUSED_WHEN_SET = Set.of("client_server_address", "ssd_offload_path",
      "device_name_per_gpu");
  private static final String TENANT = "tenant_id";

  private MooncakeConfigFile() {}

  /**
   * Reads a file. Blocks on file I/O.
   *
   * @param file the JSON file
   * @return a builder with everything the file says; whatever it sets may still be changed
   * @throws IllegalArgumentException if the file cannot be read, is no JSON object, or a value is wrong, naming file,
   *     key, value and what is allowed
   */
  public static StoreOptionsBuilder read(Path file) {
    return read(file, null);
  }

  /**
   * Reads the file that {@code MOONCAKE_CONFIG_PATH} names; {@code MOONCAKE_REQUESTER_LOCAL_HOSTNAME} names this client
   * if the file does not.
   *
   * @return a builder with everything the file says
   * @throws IllegalArgumentException if the variable is not set, or as for {@link #read}
   */
  public static StoreOptionsBuilder fromEnvironment() {
    return fromEnvironment(System.getenv());
  }

  static StoreOptionsBuilder fromEnvironment(Map<String, String> environment) {
    String file = environment.get(VARIABLE);
    if (file == null || file.isBlank()) {
      throw new IllegalArgumentException("environment variable " + VARIABLE + " must name a JSON file, but is not set");
    }
    return read(Path.of(file), environment.get(HOSTNAME_VARIABLE));
  }

  private static StoreOptionsBuilder read(Path file, @Nullable String localHostname) {
    try {
      return options(object(file), localHostname);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static JsonNode object(Path file) {
    try {
      JsonNode root = JSON.readTree(Files.readString(file));
      if (root.isObject()) return root;
      throw new IllegalArgumentException("must hold one JSON object: " + root.getNodeType());
    } catch (JacksonException e) {
      throw new IllegalArgumentException("is no JSON: " + e.getOriginalMessage() + " at line "
          + (e.getLocation() == null ? 1 : e.getLocation().getLineNr()), e);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot be read: " + e, e);
    }
  }

  private static StoreOptionsBuilder options(JsonNode root, @Nullable String localHostname) {
    root.fieldNames().forEachRemaining(name -> check(name, root.get(name)));
    String master = text(root, "master_server_address", "");
    if (master.isBlank())
      throw new IllegalArgumentException("master_server_address must be host:port: \"" + master + '"');
    StoreOptionsBuilder builder = StoreOptions.mooncake(master)
        .metadataServer(text(root, "metadata_server", "P2PHANDSHAKE")).protocol(text(root, "protocol", "rdma"))
        .devices(text(root, "device_name", "")).masterAdmin(admin(root, master));
    sizes(root, builder);
    String hostname = text(root, "local_hostname", localHostname == null ? "" : localHostname);
    // a highly available master has no one address to look towards: the name must then come from somebody else
    if (!hostname.isEmpty()) builder.localHostname(hostname);
    else if (!isUrl(master)) builder.localHostnameTowardsMaster();
    return builder;
  }

  private static void sizes(JsonNode root, StoreOptionsBuilder builder) {
    String mode = text(root, "mode", "embedded");
    boolean embedded = mode.equals("embedded");
    if (!embedded && !mode.equals("standalone-store")) {
      throw new IllegalArgumentException("mode must be embedded or standalone-store: \"" + mode + '"');
    }
    long segmentBytes = bytes(root, "global_segment_size", embedded ? BYTES_DEFAULT : 0);
    if (embedded == (segmentBytes == 0)) {
      throw new IllegalArgumentException(
          "global_segment_size must be " + (embedded ? "above 0" : "0") + " with mode " + mode + ": " + segmentBytes);
    }
    long localBufferBytes = bytes(root, "local_buffer_size", BYTES_DEFAULT);
    if (localBufferBytes == 0) throw new IllegalArgumentException("local_buffer_size must be above 0: 0");
    builder.segmentBytes(segmentBytes).localBufferBytes(localBufferBytes);
  }

  /** The administration is on the master's host; without a port there is none, since guessing one may reach another's. */
  private static String admin(JsonNode root, String master) {
    JsonNode port = root.get("master_metrics_port");
    if (port == null || port.isNull()) return "";
    if (isUrl(master)) {
      throw new IllegalArgumentException(
          "master_metrics_port needs a master_server_address of host:port: \"" + master + '"');
    }
    long number = OptionText.integer("master_metrics_port", port.asText(), 1, 65_535);
    String host = HostPort.parse("master_server_address", master, HostPort.NO_PORT).host();
    return "http://" + new HostPort(host, (int) number);
  }

  private static void check(String name, JsonNode value) {
    if (USED.contains(name)) return;
    if (name.equals(TENANT)) {
      String tenant = value.isNull() ? "" : text(name, value).strip();
      if (!tenant.isEmpty() && !tenant.equals("default")) throw notInAbi(name, value, "default");
    } else if (REFUSED_WHEN_TRUE.contains(name)) {
      if (!value.isNull() && OptionText.bool(name, value.asText())) throw notInAbi(name, value, "false");
    } else if (REFUSED_WHEN_SET.contains(name)) {
      if (!value.isNull() && !(value.isTextual() && value.asText().isEmpty()))
        throw notInAbi(name, value, "null or \"\"");
    } else {
      Set<String> known = new TreeSet<>(USED);
      known.addAll(REFUSED_WHEN_TRUE);
      known.addAll(REFUSED_WHEN_SET);
      known.add(TENANT);
      throw OptionText.unknown("key", name, known);
    }
  }

  private static IllegalArgumentException notInAbi(String name, JsonNode value, String allowed) {
    return new IllegalArgumentException(
        name + " must be " + allowed + ", since Mooncake's C interface cannot do what it asks for: " + value);
  }

  private static boolean isUrl(String master) {
    return master.contains("://");
  }

  private static String text(JsonNode root, String name, String absent) {
    JsonNode value = root.get(name);
    return value == null || value.isNull() ? absent : text(name, value);
  }

  private static String text(String name, JsonNode value) {
    if (value.isTextual()) return value.asText();
    throw new IllegalArgumentException(name + " must be text: " + value);
  }

  private static long bytes(JsonNode root, String name, long absent) {
    JsonNode value = root.get(name);
    if (value == null || value.isNull()) return absent;
    if (value.isTextual() || value.isIntegralNumber()) return ByteSize.parse(name, value.asText());
    throw new IllegalArgumentException(name + " must be bytes or a text such as \"4GB\": " + value);
  }
}
