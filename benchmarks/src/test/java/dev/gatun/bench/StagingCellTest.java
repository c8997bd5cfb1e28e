package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.device.Device;
import dev.gatun.device.StagingOptions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StagingCellTest {
  @ParameterizedTest
  @ValueSource(longs = {4096, 18_432, 1 << 20})
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("on a GPU of host memory every byte arrives, all ways are measured, and a producer still running is waited for")
  void everyByte(long fragmentBytes) {
    ObjectNode row = JsonNodeFactory.instance.objectNode();
    StagingOptions small = new StagingOptions(4 << 20, 1 << 20, 1 << 20);
    try (Device gpu = Device.open("host", 0); StagingCell cell = new StagingCell(gpu, fragmentBytes, 6 << 20, small)) {
      assertTrue(cell.movesEveryByte());
      cell.measure(1, row);
      for (String way : new String[]{"copyOut", "save", "copyIn", "load", "copyBoth", "stageBoth"})
        assertTrue(row.path(way + "GBps").asDouble() > 0, way);
      cell.producerStillRunning(3, row);
      assertTrue(row.path("rounds").asInt() >= 3);
      assertEquals(row.path("rounds").asInt(), row.path("byteExact").asInt());
    }
  }
}
