package dev.gatun.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.internal.backend.ChildJvm;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On which GPUs a process takes a context, some 500 MB of memory each; in a process of its own that has taken none before. */
abstract class ContextContract {
  abstract String driver();

  @Test
  @DisplayName("K11.02 looking takes a context nowhere; work on the last GPU by all kinds of threads takes one there, no other")
  void onlyWhereWorkIs() {
    try (ChildJvm worker = ChildJvm.start(ContextProcess.class, Map.of(), PushContract.flags(), driver())) {
      ChildJvm.End end = worker.await();
      assertEquals(0, end.code(), end::output);
      int gpus = CudaDrivers.probe(driver()).devices().size();
      List<Boolean> none = Collections.nCopies(gpus, false);
      List<Boolean> last = new ArrayList<>(none);
      last.set(gpus - 1, true);
      assertEquals(List.of("looked " + none, "worked " + last, "closed " + none),
          end.output().lines().filter(line -> line.matches("(looked|worked|closed) .*")).toList(), end::output);
    }
  }
}
