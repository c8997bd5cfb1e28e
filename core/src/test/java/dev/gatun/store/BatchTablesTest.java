package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The tables behind batches: duplicates, and keys that failed. */
class BatchTablesTest {
  @Test
  @DisplayName("duplicates are found as a map finds them, over many rounds and the wrap of the round's number")
  void duplicates() {
    Random random = new Random(7);
    for (int capacity : new int[]{1, 2, 3, 16, 100}) {
      DuplicateTable table = new DuplicateTable(capacity);
      KvKey[] keys = new KvKey[capacity];
      for (int round = 0; round < 5000; round++) { // the number wraps after 4095
        table.clear();
        Map<KvKey, Integer> model = new HashMap<>();
        for (int i = 0; i < capacity; i++) {
          keys[i] = KvKey.of("k" + random.nextInt(2 * capacity));
          Integer first = model.putIfAbsent(keys[i], i);
          assertEquals(first == null ? DuplicateTable.NONE : first, table.enter(keys, i), "round " + round);
        }
      }
    }
  }

  @Test
  @DisplayName("K7.14 a failed key is remembered for its time, and forgotten by success or a clear")
  void failedKeys() {
    FailedKeys failed = new FailedKeys(Duration.ofHours(1));
    assertFalse(failed.active());
    failed.add(5, -800);
    failed.add(6, -801);
    assertTrue(failed.active());
    assertEquals(-800, failed.rawCode(5));
    assertEquals(FailedKeys.NONE, failed.rawCode(5 + 1024), "another key of the same slot");
    failed.remove(5 + 1024);
    assertEquals(-800, failed.rawCode(5));
    failed.remove(5);
    assertEquals(FailedKeys.NONE, failed.rawCode(5));
    assertEquals(-801, failed.rawCode(6));
    failed.add(6 + 1024, -900);
    assertEquals(FailedKeys.NONE, failed.rawCode(6), "displaced by a newer one");
    failed.clear();
    assertFalse(failed.active());
    assertEquals(FailedKeys.NONE, failed.rawCode(6 + 1024));
    FailedKeys shortly = new FailedKeys(Duration.ofMillis(1));
    shortly.add(9, -800);
    ContractBench.await("the end of its time", () -> !shortly.active() && shortly.rawCode(9) == FailedKeys.NONE);
    FailedKeys never = new FailedKeys(Duration.ZERO);
    never.add(9, -800);
    assertFalse(never.active());
  }

  @Test
  @DisplayName("policies outside their ranges are refused, naming field and value")
  void policy() {
    StorePolicy good = StorePolicy.DEFAULT;
    ContractBench.assertSays("keysPerCallMax must be 1 to 65536: 0",
        assertThrows(IllegalArgumentException.class, () -> good.withCallLimits(0, 1)));
    ContractBench.assertSays("bytesPerCallMax must be positive: 0",
        assertThrows(IllegalArgumentException.class, () -> good.withCallLimits(1, 0)));
    ContractBench.assertSays("parkMax must be 0 to 1 hour: PT2H",
        assertThrows(IllegalArgumentException.class, () -> good.withParkMax(Duration.ofHours(2))));
    ContractBench.assertSays("failedKeysFor must be 0 to 1 hour: PT-1S",
        assertThrows(IllegalArgumentException.class, () -> good.withFailedKeysFor(Duration.ofSeconds(-1))));
  }
}
