package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class DevicePushTest {
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("on GPUs of host memory every page arrives in the other process, beside the raw kernel, and by grants")
  void measures(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("push.json");
    DevicePush.main(new String[]{"--driver", "host", "--fragments", "4096,32768", "--bytes", "8000000", "--pages", "6",
        "--grids", "2,64", "--repeats", "2", "--output", file.toString()});
    JsonNode report = new ObjectMapper().readTree(file.toFile());
    assertEquals(4, report.path("rows").size());
    for (JsonNode row : report.path("rows")) {
      assertEquals(0, row.path("wrongBlocks").asInt(-1), row::toString);
      for (String rate : new String[]{"gpuGBps", "wallGBps", "rawGBps", "ofRaw", "copyGBps", "ofCopy"})
        assertTrue(row.path(rate).asDouble() > 0, rate + " of " + row);
    }
    assertEquals(2, report.path("handovers").size());
    for (JsonNode handover : report.path("handovers")) {
      assertEquals(0, handover.path("wrongBlocks").asInt(-1), handover::toString);
      assertTrue(handover.path("grantMicros").asDouble() > 0 && handover.path("rawMicros").asDouble() > 0,
          handover::toString);
    }
  }
}
