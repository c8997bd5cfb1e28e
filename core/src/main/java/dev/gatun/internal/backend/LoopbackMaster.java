package dev.gatun.internal.backend;

import dev.gatun.backend.StoreException;
import dev.gatun.bindings.mooncake.LoopbackC;
import dev.gatun.internal.ffm.CStrings;
import java.lang.foreign.Arena;

/**
 * The master that an embedded pool stands for, as a test makes it fail. The library must be loaded: open a store first.
 * Usable by any thread.
 *
 * @param pool the master's address, {@code loopback:NAME}
 */
public record LoopbackMaster(String pool) {

  /** Every call of every store that asks this master answers {@code RPC_FAIL} from now on. */
  public void fail() {
    set(LoopbackC.GATUN_LOOPBACK_MASTER_DOWN());
  }

  /** The master answers again, with everything it had. */
  public void mend() {
    set(LoopbackC.GATUN_LOOPBACK_MASTER_UP());
  }

  private void set(int state) {
    try (Arena call = Arena.ofConfined()) { // per call
      int code = LoopbackC.gatun_loopback_master_set(CStrings.encode(call, "pool", pool), state);
      if (code != 0) throw new StoreException("master_set", code, pool);
    }
  }
}
