package dev.gatun.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StagedPagesTest {
  @Test
  @DisplayName("pages go out and back byte for byte through a ring smaller than the batch, on a GPU of host memory")
  void everyByte() {
    try (StagedPages pages = new StagedPages("host", 18_432, 120, 100_000, 300_000)) {
      pages.verify();
      pages.queueLink(true);
      pages.queueLink(false);
      pages.await();
      assertEquals(120L * 18_432, pages.bytes());
    }
    try (StagedPages pages = new StagedPages("host", 4096, 300)) {
      pages.verify();
    }
  }
}
