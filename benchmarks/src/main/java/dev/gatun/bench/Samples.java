package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Nanoseconds of single operations. */
final class Samples {
  private long[] nanos = new long[0];

  void add(MemorySegment measured, int count) {
    int before = nanos.length;
    nanos = Arrays.copyOf(nanos, before + count);
    MemorySegment.copy(measured, ValueLayout.JAVA_LONG, 0, nanos, before, count);
  }

  int count() {
    return nanos.length;
  }

  long medianNanos() {
    return quantile(0.5);
  }

  /** {@return the value below which this part of all lies, as the C program counts it} */
  long quantile(double part) {
    if (nanos.length == 0) throw new IllegalStateException("nothing was measured");
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    return sorted[(int) (part * (sorted.length - 1))];
  }

  /** {@return the summary, in the C program's form} */
  ObjectNode json() {
    return JsonNodeFactory.instance.objectNode().put("medianNanos", medianNanos()).put("p10Nanos", quantile(0.1))
        .put("p99Nanos", quantile(0.99)).put("iterations", count());
  }
}
