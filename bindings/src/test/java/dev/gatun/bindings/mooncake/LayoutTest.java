package dev.gatun.bindings.mooncake;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Compares what jextract made with what the C compiler made of the same headers, as the layout probe prints it. */
class LayoutTest {
  private static JsonNode probe = new ObjectMapper().createObjectNode();

  @BeforeAll
  static void runProbe() throws Exception {
    Path program = Repository.built("gatun_layout_probe");
    probe = new ObjectMapper().readTree(Repository.run(List.of(program.toString())));
  }

  @Test
  @DisplayName("K13.13 every struct has the size, the alignment, and field by field the offset and size that it has in C")
  void structs() throws ReflectiveOperationException {
    Map<String, String> java = new TreeMap<>();
    for (AllowList list : AllowList.values()) {
      for (String struct : list.structs()) {
        GroupLayout layout = (GroupLayout) Class.forName(list.bindings.getPackageName() + "." + struct)
            .getMethod("layout").invoke(null);
        describe(struct, Objects.requireNonNull(layout), java);
      }
    }
    Map<String, String> c = new TreeMap<>();
    probe.path("structs").properties().forEach(struct -> describe(struct.getKey(), struct.getValue(), c));
    assertSame(java, c);
  }

  /** Named here so that dropping one from an allow-list, which drops it from both sides above, does not go unseen. */
  @Test
  @DisplayName("K13.13 request, status, replicate config and NIC figures are among them; an int before a pointer is padded")
  void paddedStructs() {
    assertAll(
        () -> assertLayout(transfer_request.layout(), 40, "opcode@0", "source@8", "target_id@16", "target_offset@24",
            "length@32"),
        () -> assertLayout(transfer_status.layout(), 16, "status@0", "transferred_bytes@8"),
        () -> assertLayout(mooncake_replicate_config.layout(), 32, "replica_num@0", "with_soft_pin@8",
            "with_hard_pin@12", "preferred_segments@16", "preferred_segments_count@24"),
        () -> assertLayout(nic_load_stat.layout(), 80, "device_name@0", "inflight_bytes@64", "ewma_bandwidth_bps@72"));
    for (String struct : List.of("transfer_request", "transfer_status", "mooncake_replicate_config", "nic_load_stat"))
      assertTrue(probe.path("structs").has(struct), struct);
    assertEquals(8 - ValueLayout.JAVA_INT.byteSize(),
        transfer_request.source$offset() - transfer_request.opcode$offset()
            - transfer_request.opcode$layout().byteSize());
  }

  private static void assertLayout(MemoryLayout layout, long bytes, String... fields) {
    GroupLayout group = (GroupLayout) layout;
    assertEquals(bytes, group.byteSize());
    assertEquals(List.of(fields), group.memberLayouts().stream().flatMap(member -> member.name().stream())
        .map(name -> name + '@' + group.byteOffset(PathElement.groupElement(name))).toList());
  }

  @Test
  @DisplayName("every constant has the value that it has in C")
  void constants() throws ReflectiveOperationException {
    Map<String, String> java = new TreeMap<>();
    for (AllowList list : AllowList.values()) {
      for (String constant : list.constants()) {
        Number value = (Number) list.bindings.getMethod(constant).invoke(null);
        java.put(constant, String.valueOf(Objects.requireNonNull(value).longValue()));
      }
    }
    Map<String, String> c = new TreeMap<>();
    probe.path("constants").properties().forEach(constant -> c.put(constant.getKey(), constant.getValue().asText()));
    assertSame(java, c);
  }

  private static void describe(String struct, GroupLayout layout, Map<String, String> lines) {
    lines.put(struct, layout.byteSize() + " bytes (alignment " + layout.byteAlignment() + ")");
    for (MemoryLayout member : layout.memberLayouts()) {
      member.name().ifPresent(name -> lines.put(struct + "." + name,
          layout.byteOffset(PathElement.groupElement(name)) + " (" + member.byteSize() + " bytes)"));
    }
  }

  private static void describe(String struct, JsonNode layout, Map<String, String> lines) {
    lines.put(struct, layout.path("size").asLong() + " bytes (alignment " + layout.path("alignment").asLong() + ")");
    layout.path("fields").properties().forEach(field -> lines.put(struct + "." + field.getKey(),
        field.getValue().path("offset").asLong() + " (" + field.getValue().path("size").asLong() + " bytes)"));
  }

  private static void assertSame(Map<String, String> java, Map<String, String> c) {
    assertFalse(c.isEmpty(), "the probe printed nothing to compare with");
    TreeSet<String> names = new TreeSet<>(java.keySet());
    names.addAll(c.keySet());
    assertAll(names.stream().map(name -> () -> {
      String inJava = java.getOrDefault(name, "absent");
      String inC = c.getOrDefault(name, "absent");
      if (!inJava.equals(inC)) {
        fail(name + ": Java " + inJava + ", C " + inC);
      }
    }));
  }
}
