package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the comparison of engines makes of its launches. */
class EngineFiguresTest {
  private static final double ROUNDING = 1e-9;

  private static List<JsonNode> cells(double medianNanos, double meanNanos) {
    ObjectNode cell = JsonNodeFactory.instance.objectNode().put("blockBytes", 65_536).put("batch", 16);
    for (String operation : List.of("read", "write"))
      cell.putObject(operation).put("medianNanos", medianNanos).put("meanNanos", meanNanos);
    return List.of(cell);
  }

  private static double geometricMean(ObjectNode report, String name) {
    return report.path("geometricMeanSpeed").path(name).path("mean").asDouble(-1);
  }

  @Test
  @DisplayName("Java and the upstream program stand beside the geometric mean of both C launches, C beside itself")
  void speeds() {
    EngineFigures figures = new EngineFigures();
    figures.add(EnginePrograms.PROGRAM, cells(100, 200));
    figures.add(EnginePrograms.PROGRAM_AGAIN, cells(400, 800));
    figures.add(EnginePrograms.JAVA, cells(100, 800));
    figures.add(EnginePrograms.UPSTREAM, cells(0, 400));
    ObjectNode report = JsonNodeFactory.instance.objectNode();
    String text = figures.report(report);
    assertEquals(2.0, geometricMean(report, "mediansOfJava"), ROUNDING);
    assertEquals(0.25, geometricMean(report, "mediansOfC"), ROUNDING);
    assertEquals(0.5, geometricMean(report, "meansOfJava"), ROUNDING);
    assertEquals(1.0, geometricMean(report, "meansOfUpstream"), ROUNDING);
    assertTrue(text.contains("Medians: Java 2.000 of C's speed (target 0.97 or more): met"), text);
  }

  @Test
  @DisplayName("means are met within the spread of C's launches, whichever of the two was the faster, and missed beyond")
  void spread() {
    for (boolean firstFaster : List.of(true, false)) {
      EngineFigures figures = new EngineFigures();
      figures.add(EnginePrograms.PROGRAM, cells(100, firstFaster ? 100 : 125));
      figures.add(EnginePrograms.PROGRAM_AGAIN, cells(100, firstFaster ? 125 : 100));
      double beside = Math.sqrt(100 * 125);
      figures.add(EnginePrograms.JAVA, cells(104, beside / 0.79));
      ObjectNode report = JsonNodeFactory.instance.objectNode();
      String text = figures.report(report);
      assertEquals(0.8, report.path("lowestMeansOfC").asDouble(), ROUNDING);
      assertTrue(text.contains("down to 0.800 (target: within): MISSED"), text);
      assertTrue(text.contains("Medians: Java 0.962 of C's speed (target 0.97 or more): MISSED"), text);
    }
  }

  @Test
  @DisplayName("the upstream program's log says how long a batch took")
  void upstream() {
    String logged = """
        I1130 09:00:00.000000 1 transfer_engine_bench.cpp:1] Worker 0 stopped!
        I1130 09:00:00.000000 1 transfer_engine_bench.cpp:2] Test completed: duration 2.00, batch count 400, throughput 1.68 GB/s
        """;
    assertEquals(5e6, UpstreamBench.meanNanos(logged), ROUNDING);
    IllegalStateException none = assertThrows(IllegalStateException.class,
        () -> UpstreamBench.meanNanos("E1130 no target segment"));
    assertTrue(String.valueOf(none.getMessage()).contains("no target segment"), none::getMessage);
  }
}
