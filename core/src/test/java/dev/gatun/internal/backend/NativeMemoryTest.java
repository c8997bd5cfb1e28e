package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {
  @Test
  @DisplayName("K13.11 100,000 rounds of put, get and exists, single and batch, allocate no native memory and no object")
  void flat() {
    try (ChildJvm child = ChildJvm.start(NativeMemoryScenario.class, Map.of(),
        List.of("-XX:NativeMemoryTracking=summary"))) {
      ChildJvm.End end = child.await();
      assertEquals(0, end.code(), end.output());
      assertTrue(end.output().contains("native bytes grown 0\n"), end.output());
      assertTrue(end.output().contains("heap bytes per call 0\n"), end.output());
    }
  }
}
