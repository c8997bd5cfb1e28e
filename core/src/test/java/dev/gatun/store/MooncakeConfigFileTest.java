package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreOptions;
import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MooncakeConfigFileTest {
  @TempDir
  private Path folder;

  private Path file(String json) throws IOException {
    return Files.writeString(folder.resolve("mooncake.json"), json);
  }

  private StoreOptions read(String members) throws IOException {
    return MooncakeConfigFile.read(file("{\"master_server_address\": \"127.0.0.1:51051\"" + members + "}")).build();
  }

  private String refusal(String json) throws IOException {
    Path file = file(json);
    String message = Thrown.message(IllegalArgumentException.class, () -> MooncakeConfigFile.read(file));
    assertTrue(message.startsWith(file + ": "), message);
    return message.substring(file.toString().length() + 2);
  }

  @Test
  @DisplayName("a file that vLLM was run with reads to the same values")
  void fileOfAnEngine() throws IOException {
    StoreOptions options = MooncakeConfigFile.read(file("""
        {
          "metadata_server": "P2PHANDSHAKE",
          "master_server_address": "127.0.0.1:51051",
          "protocol": "tcp",
          "device_name": "",
          "global_segment_size": "256MB",
          "local_buffer_size": "64MB"
        }""")).build();
    assertEquals(StoreOptions.mooncake("127.0.0.1:51051").segmentBytes(256L << 20).localBufferBytes(64L << 20).build(),
        options);
  }

  @Test
  @DisplayName("what the file leaves out is what vLLM assumes")
  void defaults() throws IOException {
    StoreOptions options = read("");
    assertEquals("rdma", options.protocol());
    assertEquals(4L << 30, options.segmentBytes());
    assertEquals(4L << 30, options.localBufferBytes());
    assertEquals("P2PHANDSHAKE", options.metadataServer());
    assertEquals("127.0.0.1", options.localHostname());
    assertEquals("", options.masterAdmin());
  }

  @Test
  @DisplayName("a client of the mode standalone-store contributes nothing")
  void modes() throws IOException {
    assertEquals(0, read(", \"mode\": \"standalone-store\"").segmentBytes());
    assertEquals("global_segment_size must be 0 with mode standalone-store: 16777216",
        refusal("{\"master_server_address\":\"a:1\",\"mode\":\"standalone-store\",\"global_segment_size\":\"16MB\"}"));
    assertEquals("global_segment_size must be above 0 with mode embedded: 0",
        refusal("{\"master_server_address\":\"a:1\",\"global_segment_size\":\"0\"}"));
    assertEquals("mode must be embedded or standalone-store: \"real\"",
        refusal("{\"master_server_address\":\"a:1\",\"mode\":\"real\"}"));
    assertEquals("local_buffer_size must be above 0: 0",
        refusal("{\"master_server_address\":\"a:1\",\"local_buffer_size\":0}"));
  }

  @ParameterizedTest
  @CsvSource({"'\"1.5 GB\"',1610612736", "16777216,16777216", "'\"1gib\"',1073741824"})
  @DisplayName("sizes are numbers or texts with units")
  void sizes(String json, long bytes) throws IOException {
    assertEquals(bytes, read(", \"global_segment_size\": " + json).segmentBytes());
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"12abc\"", "\"\"", "-1", "1.5", "true", "\"99999999999GB\"", "[1]", "\" 7 \""})
  @DisplayName("K9.11 sizes that are none are refused with the key")
  void sizesRefused(String json) throws IOException {
    String message = refusal("{\"master_server_address\":\"a:1\",\"global_segment_size\":" + json + "}");
    assertTrue(message.startsWith("global_segment_size must be"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"default_kv_lease_ttl", "lease_ttl", "kv_lease_ttl_ms"})
  @DisplayName("K2.08 a lease is the master's to configure: asked of the client, it is refused and not dropped")
  void leaseRefused(String key) throws IOException {
    String message = refusal("{\"master_server_address\":\"a:1\",\"" + key + "\":5000}");
    assertTrue(message.startsWith("unknown key \"" + key + '"'), message);
  }

  @Test
  @DisplayName("K9.10 an unknown key is refused with the closest known one")
  void unknownKey() throws IOException {
    assertEquals("unknown key \"master_server_addr\"; did you mean \"master_server_address\"?",
        refusal("{\"master_server_addr\":\"a:1\"}"));
    assertEquals("unknown key \"global_segment_sise\"; did you mean \"global_segment_size\"?",
        refusal("{\"master_server_address\":\"a:1\",\"global_segment_sise\":1}"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "\"False\"", "0", "\"no\"", "\"off\"", "null"})
  @DisplayName("K9.09 offload that is switched off is no offload")
  void offloadOff(String json) throws IOException {
    assertEquals("rdma", read(", \"enable_offload\": " + json).protocol());
  }

  @ParameterizedTest
  @CsvSource({"standalone_storage,true", "client_server_address,'\"a:1\"'", "device_name_per_gpu,'[\"mlx5_0\"]'"})
  @DisplayName("what the C interface cannot do is refused, not dropped")
  void notInTheInterface(String key, String json) throws IOException {
    assertNotInTheInterface(key, json);
  }

  @ParameterizedTest
  @CsvSource({"enable_offload,true", "enable_offload,'\"1\"'", "enable_ssd_offload,true",
      "ssd_offload_path,'\"/mnt/kv\"'"})
  @DisplayName("K1.17 a tier that would outlast a removal is refused when it is configured")
  void offload(String key, String json) throws IOException {
    assertNotInTheInterface(key, json);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"team-b\"", "\"Default\"", "\"default/b\"", "\"0\""})
  @DisplayName("K10.04 a tenant is refused, since the C interface would silently use the default one")
  void tenant(String json) throws IOException {
    assertNotInTheInterface("tenant_id", json);
    assertEquals("tenant_id must be text: 7", refusal("{\"master_server_address\":\"a:1\",\"tenant_id\":7}"));
    assertEquals("unknown key \"tenant\"; did you mean \"tenant_id\"?",
        refusal("{\"master_server_address\":\"a:1\",\"tenant\":" + json + "}"));
  }

  private void assertNotInTheInterface(String key, String json) throws IOException {
    String message = refusal("{\"master_server_address\":\"a:1\",\"" + key + "\":" + json + "}");
    assertTrue(message.startsWith(key + " must be ") && message.contains("C interface"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "\"\"", "\"default\"", "\" default \""})
  @DisplayName("the default tenant is no tenant")
  void defaultTenant(String json) throws IOException {
    assertEquals("rdma", read(", \"tenant_id\": " + json).protocol());
  }

  @Test
  @DisplayName("the port of the administration belongs to the master's host")
  void admin() throws IOException {
    assertEquals("http://127.0.0.1:9003", read(", \"master_metrics_port\": 9003").masterAdmin());
    assertEquals("master_metrics_port must be a whole number from 1 to 65535: \"0\"",
        refusal("{\"master_server_address\":\"a:1\",\"master_metrics_port\":0}"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "\"a\"", "{", "{\"mode\":\"embedded\",}",
      "{\"mode\":\"embedded\",\"mode\":\"embedded\"}",
      "{}", "{\"master_server_address\":\"\"}", "{\"master_server_address\":7}", "{\"master_server_address\":\"a:0\"}"})
  @DisplayName("what is no configuration is refused with the file's name")
  void noConfiguration(String json) throws IOException {
    assertTrue(!refusal(json).isBlank());
  }

  @Test
  @DisplayName("a file that is not there is refused with its name")
  void missingFile() {
    Path file = folder.resolve("absent.json");
    String message = Thrown.message(IllegalArgumentException.class, () -> MooncakeConfigFile.read(file));
    assertTrue(message.startsWith(file + ": cannot be read"), message);
  }

  @Test
  @DisplayName("K9.12 the environment is read when asked for by name, and must then name a file")
  void fromEnvironment() throws IOException {
    String message = Thrown.message(IllegalArgumentException.class, () -> MooncakeConfigFile.fromEnvironment(Map.of()));
    assertEquals("environment variable MOONCAKE_CONFIG_PATH must name a JSON file, but is not set", message);
    Path file = file("{\"master_server_address\":\"10.0.0.9:1\",\"protocol\":\"tcp\"}");
    StoreOptions options = MooncakeConfigFile.fromEnvironment(
        Map.of("MOONCAKE_CONFIG_PATH", file.toString(), "MOONCAKE_REQUESTER_LOCAL_HOSTNAME", "10.0.0.1")).build();
    assertEquals("10.0.0.1", options.localHostname());
  }
}
