package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.bench.DecodeSide.Question;
import dev.gatun.nativelib.NixlInstaller;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class DevicePushTest {
  private interface Main {
    void run(String[] arguments) throws Exception;
  }

  /** {@return what a benchmark writes, on GPUs of host memory} */
  private static JsonNode report(Main main, Path folder, String... flags) throws Exception {
    Path file = folder.resolve("report.json");
    List<String> arguments = new ArrayList<>(List.of("--driver", "host", "--output", file.toString()));
    arguments.addAll(List.of(flags));
    main.run(arguments.toArray(String[]::new));
    return new ObjectMapper().readTree(file.toFile());
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("on GPUs of host memory every page arrives in the other process, beside the raw kernel, and by grants")
  void measures(@TempDir Path folder) throws Exception {
    JsonNode report = report(DevicePush::main, folder, "--fragments", "4096,32768", "--bytes", "8000000", "--pages",
        "6",
        "--grids", "2,64", "--repeats", "2", "--rounds", "20", "--pause-millis", "1");
    assertEquals(4, report.path("rows").size());
    for (JsonNode row : report.path("rows")) {
      assertEquals(0, row.path("wrongBlocks").asInt(-1), row::toString);
      for (String rate : new String[]{"gpuGBps", "wallGBps", "rawGBps", "ofRaw", "copyGBps", "ofCopy"})
        assertTrue(row.path(rate).asDouble() > 0, rate + " of " + row);
    }
    assertEquals(2, report.path("handovers").size());
    for (JsonNode handover : report.path("handovers")) {
      assertEquals(0, handover.path("wrongBlocks").asInt(-1), handover::toString);
      for (String micros : new String[]{"rawMicros", "grantMicros", "pacedMicros", "aheadMicros"})
        assertTrue(handover.path(micros).asDouble() > 0, micros + " of " + handover);
      for (String name : new String[]{"grant", "paced", "ahead"}) {
        double over = handover.path(name + "OverRawMicros").asDouble();
        assertEquals(handover.path(name + "Micros").asDouble() - handover.path("rawMicros").asDouble(), over, 1e-3);
        assertTrue(handover.path(name + "OverRawP99Micros").asDouble() >= over, handover::toString);
      }
    }
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("on GPUs of host memory pages arrive beside products of either process, and the curve says what they cost")
  void besideProducts(@TempDir Path folder) throws Exception {
    JsonNode report = report(PushBeside::main, folder, "--fragments", "4096", "--bytes", "1000000", "--grids", "2,64",
        "--rounds", "3", "--products", "4", "--size", "256", "--seconds", "4");
    assertEquals(2, report.path("rows").size());
    for (JsonNode row : report.path("rows")) {
      assertEquals(0, row.path("wrongBlocks").asInt(-1), row::toString);
      for (String side : new String[]{"sender", "receiver"}) {
        assertEquals(3, row.path(side).path("rounds").asInt(), row::toString);
        assertTrue(row.path(side).path("gbps").asDouble() > 0, row::toString);
        assertTrue(row.path(side).path("productMillis").asDouble() > 0, row::toString);
        assertTrue(row.path(side).path("slowerPercent").asDouble(-100) > -100, row::toString);
      }
    }
    assertEquals(4096, report.path("largestWithin").path(0).path("fragmentBytes").asInt());
  }

  @Test
  @DisplayName("the largest grid within 5 % is within it on both sides, and its figure is the lower of the two rates")
  void largestWithin() throws Exception {
    List<JsonNode> rows = List.of(row(2, 1, 2, 30, 40), row(64, 6, 1, 200, 300), row(8, 4, 5, 120, 110),
        row(132, 1, 5.1, 300, 300));
    ObjectNode found = JsonNodeFactory.instance.objectNode();
    PushBeside.conclude(rows, 32768, found);
    assertEquals("{\"fragmentBytes\":32768,\"blocksMax\":8,\"slowerPercent\":5.0,\"gbps\":110.0}", found.toString());
    ObjectNode none = JsonNodeFactory.instance.objectNode();
    PushBeside.conclude(rows.subList(1, 2), 32768, none);
    assertEquals("{\"fragmentBytes\":32768,\"blocksMax\":null}", none.toString());
  }

  private static JsonNode row(int grid, double senderSlower, double receiverSlower, double sending, double receiving) {
    ObjectNode row = JsonNodeFactory.instance.objectNode().put("blocksMax", grid);
    row.putObject("sender").put("slowerPercent", senderSlower).put("gbps", sending);
    row.putObject("receiver").put("slowerPercent", receiverSlower).put("gbps", receiving);
    return row;
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("NIXL writes the fragments of the same pages to the same places, beside the push")
  void besideNixl(@TempDir Path folder) throws Exception {
    NixlInstaller.install(System.out::println);
    JsonNode report = report(PushNixl::main, folder, "--fragments", "4096", "--bytes", "2000000", "--repeats", "2");
    JsonNode row = report.path("rows").path(0);
    assertEquals(0, row.path("wrongBlocks").asInt(-1), report::toString);
    for (String rate : new String[]{"pushGBps", "nixlGBps", "nixlOnePieceGBps"})
      assertTrue(row.path(rate).asDouble() > 0, rate + " of " + row);
  }

  @Test
  @Timeout(value = 1, unit = TimeUnit.MINUTES)
  @DisplayName("a process of the other side that ends is said, with what it said")
  void otherSideEnds() throws Exception {
    try (DecodeProcess decode = new DecodeProcess("host", 2)) {
      String message = assertThrows(IllegalStateException.class, () -> decode.ask(Question.CLEAR)).getMessage();
      assertTrue(String.valueOf(message).contains("open first"), message);
      while (!decode.hasAnswered())
        Thread.onSpinWait(); // it is being reaped
    }
  }
}
