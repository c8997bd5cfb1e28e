package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NixlCellTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 16, 128})
  @DisplayName("blocks of a cell have slots of their own; scattered ones never adjoin on both sides, consecutive ones always do")
  void slots(int batch) {
    NixlCell scattered = new NixlCell(4096, batch, NixlCell.SCATTERED, "read");
    NixlCell consecutive = new NixlCell(4096, batch, NixlCell.CONSECUTIVE, "read");
    assertEquals(batch, IntStream.range(0, batch).map(scattered::localSlot).distinct().count());
    assertEquals(batch, IntStream.range(0, batch).map(scattered::remoteSlot).distinct().count());
    for (int i = 0; i < batch; i++) {
      assertEquals(i, consecutive.localSlot(i));
      assertEquals(i, consecutive.remoteSlot(i));
      for (int j = 0; j < batch; j++) {
        assertFalse(scattered.localSlot(j) == scattered.localSlot(i) + 1
            && scattered.remoteSlot(j) == scattered.remoteSlot(i) + 1, i + " and " + j);
      }
    }
  }
}
