package dev.gatun.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One size of work: a batch of pages of one size. Keys are those of the C program, so that every peer sends the same
 * bytes.
 *
 * @param pageBytes bytes a page
 * @param batch pages a call
 */
record StoreCell(long pageBytes, int batch) {
  /** Page sizes of the comparison: 4 KiB to 16 MiB. */
  static final List<Long> PAGE_BYTES = List.of(4_096L, 65_536L, 262_144L, 1_048_576L, 4_194_304L,
      16_777_216L);
  /** Batch sizes of the comparison. */
  static final List<Long> BATCHES = List.of(1L, 16L, 128L);

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  StoreCell {
    if (pageBytes < 8 || pageBytes % 8 != 0) {
      throw new IllegalArgumentException("pageBytes must be a positive multiple of 8: " + pageBytes);
    }
    if (batch < 1) throw new IllegalArgumentException("batch must be positive: " + batch);
  }

  static List<StoreCell> all(List<Long> pageBytes, List<Long> batches, long batchBytesMax) {
    List<StoreCell> cells = new ArrayList<>();
    for (long bytes : pageBytes) {
      for (long batch : batches)
        if (bytes <= batchBytesMax / batch) cells.add(new StoreCell(bytes, Math.toIntExact(batch)));
    }
    return cells;
  }

  long bytes() {
    return pageBytes * batch;
  }

  String key(int index) {
    return String.format(Locale.ROOT, "bench-model@tp0@%x-%x-%016x%016x", pageBytes, batch, index * GOLDEN, index);
  }

  String pageText() {
    return pageBytes >= 1 << 20 ? (pageBytes >> 20) + " MiB" : (pageBytes >> 10) + " KiB";
  }
}
