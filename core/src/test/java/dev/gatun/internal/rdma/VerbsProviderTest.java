package dev.gatun.internal.rdma;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.rdma.RdmaReport;
import dev.gatun.rdma.RegistrationTrial;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerbsProviderTest {

  @Test
  @DisplayName("K14.01 where the dynamic linker finds no libibverbs, the package is named, each time")
  void withoutLibrary() {
    VerbsProvider provider = new VerbsProvider(() -> "libibverbs-of-nobody.so.1");
    for (int attempt = 0; attempt < 2; attempt++) {
      RdmaReport report = provider.probe();
      assertAll(() -> assertTrue(report.missing().contains("libibverbs-of-nobody.so.1: cannot open"), report.missing()),
          () -> assertEquals("apt-get install libibverbs1 ibverbs-providers", report.fix()),
          () -> assertEquals("", report.library()), () -> assertEquals(List.of(), report.devices()),
          () -> assertEquals(1, report.missing().lines().count(), "one line"));
      RegistrationTrial trial = provider.tryRegister("mlx5_0", 4096);
      assertEquals(report.missing(), trial.fault());
      assertEquals(report.fix(), trial.fix());
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 2500", "2, 1, 10000", "2, 4, 40000", "2, 16, 56000", "2, 32, 100000", "1, 64, 50000",
      "16, 64, 100000", "2, 128, 400000", "4, 128, 800000", "8, 2, 60000", "0, 64, 0", "2, 0, 0", "3, 64, 0",
      "255, 255, 0"})
  @DisplayName("a port's rate is that of its lanes together, and 0 for numbers that are not known")
  void rates(int width, int speed, int megabitsPerSecond) {
    assertEquals(megabitsPerSecond, LinkRate.megabitsPerSecond(width, speed));
  }
}
