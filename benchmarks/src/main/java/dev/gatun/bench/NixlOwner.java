package dev.gatun.bench;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.transfer.TransferEngine;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.Base64;

/** A process with an agent of NIXL whose pages others read and write, until its standard input ends. */
final class NixlOwner {
  private NixlOwner() {}

  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    long bytes = flags.number("--bytes", 0);
    flags.requireKnown();
    try (Slab slab = Slab.allocate(SlabOptions.of("owner", bytes).withHugePages(HugePages.TRANSPARENT).prefaulted());
        TransferEngine engine = TransferEngine.open(EngineOptions.nixl("owner-" + ProcessHandle.current().pid()),
            new EpochGate(new WeightEpoch("bench", 1)))) {
      // each word is its own offset, so that a reader knows what it must have got
      for (long i = 0; i < bytes; i += Long.BYTES)
        slab.segment().set(ValueLayout.JAVA_LONG, i, i);
      engine.register(slab);
      System.out.println(Base64.getEncoder().encodeToString(engine.descriptor().toBytes()) + ','
          + Base64.getEncoder().encodeToString(engine.descriptor().metadata()) + ',' + slab.segment().address());
      while (System.in.read() >= 0) {
        // waits for the parent, or for its end
      }
      engine.unregister(slab);
    }
  }
}
