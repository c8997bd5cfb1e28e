package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class NativeAccessDeniedTest {
  /** Main class: opens a store and prints what it is told. */
  static final class Opening {
    private Opening() {}

    public static void main(String[] arguments) {
      for (int i = 0; i < 2; i++) {
        try {
          new LoopbackBackendProvider().open(StoreOptions.loopback("denied", 0)).close();
          System.out.println("opened");
        } catch (GatunException e) {
          System.out.println("refused: " + e.getMessage());
        }
      }
    }
  }

  @Test
  @DisplayName("K14.08 K14.03 a JVM that denies native access gets the flag to add, each time; one that grants it no warning")
  void denied() {
    try (ChildJvm child = ChildJvm.start(Opening.class, Map.of(), List.of("--enable-native-access=java.base"))) {
      ChildJvm.End end = child.await();
      assertEquals(0, end.code(), end.output());
      assertEquals(2,
          end.output().lines()
              .filter(
                  line -> line.contains("refused: the loopback library cannot be used: the JVM denies native access"))
              .count(),
          end.output());
      assertEquals(2, end.output().lines().filter(line -> line.contains("--enable-native-access=ALL-UNNAMED")).count(),
          end.output());
    }
    try (ChildJvm child = ChildJvm.start(Opening.class)) {
      assertEquals("opened\nopened\n", child.await().output());
    }
  }
}
