package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.store.Existence;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store connector and a pull connector in one process: both libraries, with what each brings along. */
@Tag("mooncake")
@Tag("nixl")
class NixlBesideMooncakeTest {
  private static final int PAGE = 64 << 10;

  @Test
  @DisplayName("a real Mooncake store and agents of NIXL work side by side in one process, whichever is closed first")
  void together() {
    for (boolean storeFirst : new boolean[]{true, false}) {
      EpochGate gate = new EpochGate(new WeightEpoch("beside", 1));
      KvStore store = KvStore.open(MooncakeTestRuntime.shared().pureClient().build(), KeyCodec.plain("beside"), gate,
          Observer.NONE);
      NixlSide here = new NixlSide(NixlTestRuntime.options());
      NixlSide there = new NixlSide(NixlTestRuntime.options());
      MemorySegment mine = here.memory(PAGE);
      MemorySegment theirs = there.memory(PAGE);
      int peer = here.engine.openSegment(there.descriptor());
      for (int round = 0; round < 10; round++) {
        KvKey key = KvKey.of("page-" + storeFirst + '-' + round);
        NixlSide.fill(theirs, round);
        assertEquals(TransferOutcome.COMPLETED, here.move(TransferRequests.READ, mine, peer, theirs.address()));
        assertTrue(NixlSide.holds(mine, round));
        store.put(key, mine);
        assertEquals(Existence.PRESENT, store.exists(key));
      }
      store.removeAll(true);
      if (storeFirst) store.close();
      here.close();
      there.close();
      if (!storeFirst) store.close();
    }
  }
}
